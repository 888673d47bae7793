//! Frames of ESP and EDP to and from Ethernet: the interfaces of this host, drivers, and echoes.
//!
//! A [`Driver`] moves whole frames and never looks into one; what they say is `goal-esp`'s. [`Packet`] is the driver that every Linux
//! has.

mod driver;
mod echo;
mod interface;
mod packet;
mod port;
mod stream;
mod wire;

pub use driver::{Driver, Full, Lost};
pub use echo::{Answerer, Asker};
pub use interface::{Interface, Refusal};
pub use packet::{OpenError, Packet, RingStats, give_up_rights, probe};
pub use port::Port;
pub use stream::{EspTransport, Frames, LostPeer};
pub use wire::Wire;
