//! Starts the launchers of a job on other hosts, by ssh.
//!
//! The first host is this one, whose launcher has the number 0. On each other host, ssh starts
//! `goal-run launcher` ([`remote`]), which gets an [`Order`] on its standard input: the key, the
//! arguments, and the program if it is a schedule. Its standard input then stays open. When it
//! ends, because this launcher or the connection has ended, the other launcher ends too.
//!
//! Threat: other users of a host can read command lines and environments of processes. So the key
//! travels through standard input only. ssh protects it on the way, and proves the identity of the
//! hosts.

mod list;
mod order;
pub(crate) mod remote;
mod start;

pub(crate) use list::{HostList, ListedHost};
pub(crate) use start::{Fleet, Task};
