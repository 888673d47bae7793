mod network;
mod random;
mod small;
