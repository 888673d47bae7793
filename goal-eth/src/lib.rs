//! Frames of ESP and EDP to and from Ethernet: the interfaces of this host, drivers, and echoes.
//!
//! A [`Driver`] moves whole frames and never looks into one; what they say is `goal-esp`'s.
//! [`Packet`] is the driver that every Linux has, [`Xdp`] one that goes past the kernel's network;
//! [`AnyDriver`] is either.

mod choice;
mod clock;
mod driver;
mod interface;
mod packet;
mod port;
mod stream;
mod xdp;

use goal_engine::transport::{Distance, Plugin, ZeroCopy};

pub use choice::{AnyDriver, DriverKind, PassedDriver};
pub use clock::now_ns;
pub use driver::{Driver, Full, Lost};
pub use interface::{Interface, Refusal};
pub use packet::{OpenError, Packet, RingStats, probe};
pub use port::Port;
pub use stream::{EspTransport, Exchanged, LostPeer, MESSAGE_MAX, Overrun, SHORT_MAX};
pub use xdp::{NoXdp, Program, Xdp};

/// Properties of the transport.
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
    probe,
};
