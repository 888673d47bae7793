mod ahead;
mod buffers;
mod checked;
pub(crate) mod network;
mod random;
pub(crate) mod small;
