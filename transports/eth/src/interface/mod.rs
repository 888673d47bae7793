//! The network interfaces of this host.

mod sys;
#[cfg(test)]
mod tests;

use goal_esp::endpoint::FRAME_LEN_MAX;
use goal_esp::limits::PAYLOAD_MIN;
use goal_esp::wire::{Frame, Mac, Packet};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::io;

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The name.
    pub name: String,
    /// The number of the interface in this network namespace.
    pub index: u32,
    /// The Ethernet address; `None` if the interface has no address of this form.
    pub mac: Option<Mac>,
    /// The most bytes of a frame after Ethernet's header.
    pub mtu: usize,
    /// Set if the interface is an Ethernet, and not the loopback.
    pub(crate) is_ethernet: bool,
    /// Set if the interface is switched on.
    pub(crate) is_up: bool,
    /// Set if the interface has a link to its other end.
    pub has_carrier: bool,
}

/// The reason why ESP can't use an interface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InterfaceRefusal {
    /// No interface has the name.
    #[error("there is no interface {name}; there {}", are(.others))]
    Missing {
        /// The name.
        name: String,
        /// The names of the interfaces that exist.
        others: Vec<String>,
    },
    /// The interface is the loopback. Ranks of one host share memory instead.
    #[error(
        "{name} leads to this host only, where ranks share memory: take an interface to others"
    )]
    Loopback {
        /// The interface.
        name: String,
    },
    /// The interface does not carry frames of Ethernet.
    #[error("{name} is no interface of Ethernet")]
    NotEthernet {
        /// The interface.
        name: String,
    },
    /// The interface is switched off.
    #[error("{name} is down: ip link set {name} up")]
    Down {
        /// The interface.
        name: String,
    },
    /// The frames of the interface are too short for ESP.
    #[error(
        "frames of {name} carry {mtu} bytes, ESP needs {MTU_MIN}: ip link set {name} mtu {MTU_MIN}"
    )]
    Short {
        /// The interface.
        name: String,
        /// The most bytes of a frame after Ethernet's header.
        mtu: usize,
    },
}

/// The bytes after Ethernet's header that ESP needs at least in a frame.
const MTU_MIN: usize = Packet::<&[u8]>::HEADER_LEN_MAX + PAYLOAD_MIN;
/// The bytes after Ethernet's header that ESP uses at most in a frame.
const MTU_MAX: usize = FRAME_LEN_MAX - Frame::<&[u8]>::HEADER_LEN;

impl Interface {
    /// Returns all interfaces of this network namespace, in the order of their numbers.
    ///
    /// # Errors
    /// The system's error.
    pub fn all() -> io::Result<Vec<Self>> {
        let mut all = Vec::new();
        for entry in getifaddrs()? {
            let address =
                entry.address.as_ref().and_then(|address| address.as_link_addr().copied());
            let Some(link) = address else { continue };
            let name = entry.interface_name;
            // The interface may have vanished since it was listed.
            let Ok(mtu) = sys::mtu(&name) else { continue };
            let is_ethernet = link.hatype() == libc::ARPHRD_ETHER;
            all.push(Self {
                index: link.ifindex() as u32,
                mac: link.addr().filter(|_| is_ethernet).map(Mac),
                mtu,
                is_ethernet,
                is_up: entry.flags.contains(InterfaceFlags::IFF_UP),
                has_carrier: entry.flags.contains(InterfaceFlags::IFF_RUNNING),
                name,
            });
        }
        all.sort_by_key(|interface: &Self| interface.index);
        Ok(all)
    }

    /// Returns the interface with this name among `all`.
    ///
    /// # Errors
    /// [`InterfaceRefusal`] if no interface has this name, or if ESP can't use it.
    pub fn among(all: &[Self], name: &str) -> Result<Self, InterfaceRefusal> {
        let Some(interface) = all.iter().find(|interface| interface.name == name) else {
            let others = all.iter().map(|interface| interface.name.clone()).collect();
            return Err(InterfaceRefusal::Missing { name: name.to_owned(), others });
        };
        match interface.refusal() {
            Some(refusal) => Err(refusal),
            None => Ok(interface.clone()),
        }
    }

    /// Returns the address of an interface that is not refused.
    ///
    /// # Panics
    /// If the interface has no address.
    pub(super) fn address(&self) -> Mac {
        self.mac.expect("an interface of Ethernet has an address")
    }

    /// Returns the reason why ESP can't use the interface; `None` if it can.
    pub fn refusal(&self) -> Option<InterfaceRefusal> {
        let Self { ref name, mtu, .. } = *self;
        let name = name.clone();
        if !self.is_ethernet {
            return Some(if name == "lo" {
                InterfaceRefusal::Loopback { name }
            } else {
                InterfaceRefusal::NotEthernet { name }
            });
        }
        if !self.is_up {
            return Some(InterfaceRefusal::Down { name });
        }
        (self.usable_mtu() < MTU_MIN).then_some(InterfaceRefusal::Short { name, mtu })
    }

    /// Returns the most bytes after Ethernet's header that ESP uses in a frame of this interface:
    /// its MTU, limited to ESP's longest packet.
    pub fn usable_mtu(&self) -> usize {
        self.mtu.min(MTU_MAX)
    }
}

fn are(others: &[String]) -> String {
    match others {
        [] => "is none at all".to_owned(),
        [one] => format!("is {one}"),
        _ => format!("are {}", others.join(", ")),
    }
}
