//! Frames of ESP and EDP to and from Ethernet: the interfaces of this host, drivers, and echoes.
//!
//! A [`Driver`] moves whole frames and never looks into one; what they say is `goal-esp`'s. [`Packet`] is the driver that every Linux
//! has, [`Xdp`] one that goes past the kernel's network; [`AnyDriver`] is either.

mod choice;
mod driver;
mod echo;
mod interface;
mod packet;
mod port;
mod stream;
mod wire;
mod xdp;

pub use choice::{AnyDriver, DriverKind};
pub use driver::{Driver, Full, Lost};
pub use echo::{Answerer, Asker};
pub use interface::{Interface, Refusal};
pub use packet::{OpenError, Packet, RingStats, give_up_rights, probe};
pub use port::Port;
pub use stream::{EspTransport, Frames, LostPeer};
pub use wire::Wire;
pub use xdp::{NoXdp, Xdp};
