mod checked;
mod network;
mod random;
mod small;
