//! Finds the addresses at which other nodes can reach this node.

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The environment variable with the address at which other nodes reach this node.
const ADDRESS: &str = "GOAL_ADDRESS";

/// Returns the addresses at which other nodes may reach `port`, with the port, separated by commas.
/// If the user set [`ADDRESS`], it is the only one. Otherwise all addresses that lead to other
/// nodes come first, and loopback last.
///
/// # Errors
/// The value that the user set is no IP address.
pub(super) fn places(port: u16) -> io::Result<String> {
    places_of(port, std::env::var_os(ADDRESS))
}

fn places_of(port: u16, named: Option<OsString>) -> io::Result<String> {
    let mut all: Vec<IpAddr> = match named {
        Some(text) => vec![address(&text)?],
        None => own(),
    };
    // IPv4 comes first, since not every network routes IPv6.
    all.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
    all.dedup();
    let places = all.iter().map(|&address| SocketAddr::new(address, port).to_string());
    Ok(places.collect::<Vec<_>>().join(","))
}

/// Parses the address that the user set.
fn address(text: &OsStr) -> io::Result<IpAddr> {
    let address = text.to_str().and_then(|text| text.parse().ok());
    address.ok_or_else(|| {
        io::Error::other(format!(
            "{ADDRESS}={} is no address: name one of this host, such as 10.0.0.1",
            text.display()
        ))
    })
}

/// Returns the addresses of interfaces that are up, without link-local addresses.
fn own() -> Vec<IpAddr> {
    let Ok(interfaces) = getifaddrs() else { return vec![IpAddr::from([127, 0, 0, 1])] };
    let is_up = |flags: InterfaceFlags| flags.contains(InterfaceFlags::IFF_UP);
    let address = |interface: nix::ifaddrs::InterfaceAddress| {
        let storage = interface.address.filter(|_| is_up(interface.flags))?;
        let v4 = storage.as_sockaddr_in().map(|address| IpAddr::from(address.ip()));
        let v6 = || storage.as_sockaddr_in6().map(|address| IpAddr::from(address.ip()));
        let address = v4.or_else(v6)?;
        let is_local = match address {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        (!is_local).then_some(address)
    };
    interfaces.filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::places_of;

    #[test]
    fn an_address_that_is_none_is_told() {
        assert_eq!(places_of(7, Some("10.0.0.1".into())).unwrap(), "10.0.0.1:7");
        let why = places_of(7, Some("node0".into())).unwrap_err().to_string();
        assert!(why.starts_with("GOAL_ADDRESS=node0 is no address"), "{why}");
    }

    #[test]
    fn loopback_comes_last() {
        let places = places_of(7777, None).unwrap();
        let all: Vec<std::net::SocketAddr> =
            places.split(',').map(|place| place.parse().unwrap()).collect();
        let first_loopback = all.iter().position(|place| place.ip().is_loopback());
        let last_other = all.iter().rposition(|place| !place.ip().is_loopback());
        assert!(first_loopback.is_none() || last_other < first_loopback, "{places}");
        assert!(all.iter().all(|place| place.port() == 7777));
    }
}
