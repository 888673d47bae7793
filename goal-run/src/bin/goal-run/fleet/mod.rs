//! Starts the launchers of a job on other hosts, by ssh.
//!
//! The first host of the list is this one, whose launcher has the number 0. On each other host, ssh
//! starts `goal-run launcher` ([`remote`]). It reads an [`Order`] from its standard input: the key
//! and the arguments. The bytes of the schedule follow, unless the job is a program or the other
//! launcher reads the files itself. Then the standard input stays open. If this launcher or the
//! connection ends, the input ends, and the other launcher ends too.
//!
//! Threat: other users of a host can read the command lines and environments of processes. So the
//! key is sent through standard input only. ssh encrypts it, and proves the identity of the hosts.

mod list;
mod order;
pub(crate) mod remote;
mod start;

pub(crate) use list::{HostList, ListedHost};
pub(crate) use start::{Fleet, Task};
