//! GOAL's messages on Ethernet, without IP: the interfaces of a host, drivers that carry frames,
//! and a transport of messages to ranks on other hosts.
//!
//! Start at [`Driver`], the trait of everything that carries frames. [`Packet`] is the driver that
//! every Linux has. With the feature `xdp` there is one more driver over AF_XDP, which bypasses the
//! kernel's network stack. [`AnyDriver`] is either of the two. [`EspTransport`] is the transport:
//! an engine of `goal-engine` hands it messages, and it sends them over a driver in streams of ESP
//! (`docs/esp.md`).
//!
//! This crate refuses to do some things:
//! - A driver does not look into frames. Only the filter that it gives to the kernel does. The
//!   protocol is the work of `goal-esp`.
//! - The transport reads no clock of its own. It gets a clock from its caller, so it runs in
//!   simulated time too.
//! - Nothing is allocated for a frame.
//! - Nothing is configured: an interface that is down, or too short for ESP, is refused with the
//!   command that helps.
//!
//! ```no_run
//! use goal_esp::wire::ETHERTYPE_ESP;
//! use goal_eth::{AnyDriver, Driver, DriverKind, Interface};
//! use std::time::Duration;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     for interface in Interface::all()? {
//!         match interface.refusal() {
//!             None => println!("{}: frames of {} bytes", interface.name, interface.mtu),
//!             Some(refusal) => println!("{refusal}"),
//!         }
//!     }
//!     // Any free port. Without the rights for AF_XDP this is a packet socket, and says why.
//!     let kind = DriverKind::Xdp;
//!     let (mut driver, no_xdp) = AnyDriver::open(kind, "eth0", &[ETHERTYPE_ESP], None)?;
//!     if let Some(reason) = no_xdp {
//!         println!("{reason}");
//!     }
//!     driver.wait(Some(Duration::from_secs(1)))?;
//!     driver.receive(16, |frame| println!("{} bytes", frame.len()));
//!     Ok(())
//! }
//! ```

mod choice;
mod clock;
mod driver;
mod error;
mod interface;
mod packet;
mod port;
mod stream;
#[cfg(feature = "xdp")]
mod xdp;

use goal_engine::transport::{Distance, Plugin, ZeroCopy};

pub use choice::{AnyDriver, DriverKind, HeldDriver, PassedDriver, PortGroup, probe_xdp};
pub use clock::now_ns;
pub use driver::{BATCH_MAX, Driver, LostInterface, QueueFull};
pub use error::{NoXdp, OpenError};
pub use interface::{Interface, InterfaceRefusal};
pub use packet::{Packet, RingStats, probe};
pub use port::Port;
pub use stream::{EspTransport, LostPeer, MESSAGE_MAX, SHORT_MAX};

/// The properties of the transport.
pub const ESP: Plugin = Plugin {
    name: "esp",
    about: "streams straight on Ethernet, to ranks on other hosts",
    priority: 20,
    nearest: Distance::Network,
    reach: Distance::Network,
    carries_messages: true,
    zero_copy: ZeroCopy::None,
    latency_ns: 4_000,
    bandwidth_mb_s: 1_000,
    probe: || Ok(probe()?),
};
