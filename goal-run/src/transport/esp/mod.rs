//! Frames of ESP and EDP to and from Ethernet: the interfaces of this host, drivers, and echoes.
//!
//! A [`Driver`] moves whole frames and never looks into one; what they say is `goal-esp`'s.
//! [`Packet`] is the driver that every Linux has, [`Xdp`] one that goes past the kernel's network;
//! [`AnyDriver`] is either.

mod choice;
mod driver;
mod echo;
mod interface;
mod packet;
mod port;
mod remote;
mod stream;
mod wire;
mod xdp;

use super::plugin::{Carrier, Distance, Name, Plugin, ZeroCopy};

pub(crate) use choice::PassedDriver;
pub use choice::{AnyDriver, DriverKind};
pub use driver::{Driver, Full, Lost};
pub use echo::{Answerer, Asker};
pub use interface::{Interface, Refusal};
pub use packet::{OpenError, Packet, RingStats, probe};
pub use port::Port;
pub(crate) use remote::RETRANSMIT_MAX_NS;
pub use remote::{Remote, Sleeper};
pub use stream::{EspTransport, Frames, LostPeer, MESSAGE_MAX, Overrun, SHORT_MAX};
pub use wire::Wire;
pub use xdp::{NoXdp, Program, Xdp};

pub(super) const PLUGIN: Plugin = Plugin {
    name: Name::Esp,
    text: "esp",
    about: "streams straight on Ethernet, to ranks on other hosts",
    priority: 20,
    nearest: Distance::Network,
    reach: Distance::Network,
    carrier: Some(Carrier::Esp),
    zero_copy: ZeroCopy::None,
    latency_ns: 4_000,
    bandwidth_mb_s: 1_000,
    probe,
};
