//! The part that `cargo xtask` and the tests of the library share: the header as data, the manual
//! pages made of it, the installation, and the profiler.

pub mod goalprof;
pub mod header;
pub mod install;
pub mod man;
