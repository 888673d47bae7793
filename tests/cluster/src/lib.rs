//! A test bench of hosts: network namespaces of this machine, joined by a switch.
//!
//! Each host has one interface, [`INTERFACE`], a pair of virtual Ethernet devices whose other end
//! is at the switch: a bridge of the kernel, or [`Switch::Faulty`], a program that loses, doubles,
//! delays and damages frames as `goal-esp`'s simulation does. It needs root, or what of it makes
//! network namespaces, and `ip`, `nsenter` and `setpriv`.
//!
//! Nothing is left behind, however it ends: namespaces have no names, so they live as long as a
//! process holds them, and the programs on hosts end with the thread that started them. Namespaces
//! take their devices along. Nothing outside of them is touched.

mod cluster;
mod host;
mod missing;
mod namespace;
mod switch;
mod sys;

pub use cluster::{Cluster, Switch, Wiring};
pub use goal_esp::sim::Faults;
pub use host::{Host, INTERFACE};
pub use missing::Missing;
