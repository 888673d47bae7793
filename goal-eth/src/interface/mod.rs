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

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number in this network namespace.
    pub index: u32,
    /// Its address; `None` where it has none of Ethernet's form.
    pub mac: Option<Mac>,
    /// Most bytes of a frame behind Ethernet's header.
    pub mtu: usize,
    /// Whether it is one of Ethernet, and not the loopback.
    pub is_ethernet: bool,
    /// Whether it is switched on.
    pub is_up: bool,
    /// Whether there is something at the other end.
    pub has_carrier: bool,
}

/// Why ESP can't use an interface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is none of that name.
    #[error("there is no interface {name}; there {}", are(.others))]
    Missing {
        /// What was asked for.
        name: String,
        /// Those that there are.
        others: Vec<String>,
    },
    /// The loopback: ranks of one host share memory.
    #[error(
        "{name} leads to this host only, where ranks share memory: take an interface to others"
    )]
    Loopback {
        /// The interface.
        name: String,
    },
    /// No frames of Ethernet.
    #[error("{name} is no interface of Ethernet")]
    NotEthernet {
        /// The interface.
        name: String,
    },
    /// It is switched off.
    #[error("{name} is down: ip link set {name} up")]
    Down {
        /// The interface.
        name: String,
    },
    /// It has no room for ESP's longest request.
    #[error(
        "frames of {name} carry {mtu} bytes, ESP needs {MTU_MIN}: ip link set {name} mtu {MTU_MIN}"
    )]
    Short {
        /// The interface.
        name: String,
        /// Bytes.
        mtu: usize,
    },
}

/// Least bytes behind Ethernet's header.
const MTU_MIN: usize = Packet::<&[u8]>::HEADER_LEN_MAX + PAYLOAD_MIN;
/// Most bytes that are used.
const MTU_MAX: usize = FRAME_LEN_MAX - Frame::<&[u8]>::HEADER_LEN;

impl Interface {
    /// All of this network namespace, by their numbers.
    ///
    /// # Errors
    /// What the system says.
    pub fn all() -> io::Result<Vec<Self>> {
        let mut all = Vec::new();
        for entry in getifaddrs()? {
            let address =
                entry.address.as_ref().and_then(|address| address.as_link_addr().copied());
            let Some(link) = address else { continue };
            let name = entry.interface_name;
            // One that vanished meanwhile is none.
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

    /// The one of that name among `all`, if it can be used.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn among(all: &[Self], name: &str) -> Result<Self, Refusal> {
        let Some(interface) = all.iter().find(|interface| interface.name == name) else {
            let others = all.iter().map(|interface| interface.name.clone()).collect();
            return Err(Refusal::Missing { name: name.to_owned(), others });
        };
        match interface.refusal() {
            Some(refusal) => Err(refusal),
            None => Ok(interface.clone()),
        }
    }

    /// The address of one that can be used.
    ///
    /// # Panics
    /// If it has none.
    pub(super) fn address(&self) -> Mac {
        self.mac.expect("an interface of Ethernet has an address")
    }

    /// Why it can't be used.
    pub fn refusal(&self) -> Option<Refusal> {
        let Self { ref name, mtu, .. } = *self;
        let name = name.clone();
        if !self.is_ethernet {
            return Some(if name == "lo" {
                Refusal::Loopback { name }
            } else {
                Refusal::NotEthernet { name }
            });
        }
        if !self.is_up {
            return Some(Refusal::Down { name });
        }
        (self.usable_mtu() < MTU_MIN).then_some(Refusal::Short { name, mtu })
    }

    /// Bytes behind Ethernet's header that are used: no more than ESP's longest packet.
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
