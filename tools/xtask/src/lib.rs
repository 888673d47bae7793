//! Holds what `cargo xtask` and the tests of the library share: the header as data, the manual
//! pages, the installation, and the libraries over PMPI.

pub mod goalmpi;
pub mod goalprof;
pub mod header;
pub mod install;
pub mod man;
mod shim;
