mod random;
mod small;
