//! A test bench of hosts: network namespaces of this machine, joined by a switch.
//!
//! Each host has one interface, [`INTERFACE`]: a virtual Ethernet device whose other end is at the
//! switch. The switch is a bridge of the kernel, or [`Switch::Faulty`], a program that loses,
//! doubles, delays and damages frames as `goal-esp`'s simulation does. A test bench needs `ip`,
//! `nsenter` and `setpriv`, and root's rights to create network namespaces.
//!
//! Nothing is left behind, however a test ends. The namespaces have no names, so they live as long
//! as a process holds them, and their devices vanish with them. The programs on hosts end with the
//! thread that started them. Nothing outside of the namespaces is touched.

mod cluster;
mod host;
mod missing;
mod namespace;
mod switch;
mod sys;
mod wiring;

pub use cluster::Cluster;
pub use goal_esp::sim::Faults;
pub use host::{Host, INTERFACE};
pub use missing::Missing;
pub use wiring::{Switch, Wiring};
