mod checked;
pub(crate) mod network;
mod random;
mod small;
