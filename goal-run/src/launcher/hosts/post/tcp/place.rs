//! The place where launchers meet: the addresses of its host, and the port there.

use goal_tcp::{ListenError, Listener};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;

/// Returns the addresses of the place where launchers meet.
pub(super) fn resolve(at: &str) -> Result<Vec<SocketAddr>, String> {
    let mut all: Vec<SocketAddr> = Vec::new();
    for place in at.split(',') {
        all.extend(place.to_socket_addrs().map_err(|error| {
            format!(
                "{place} is no place to meet: {error} (give HOST:PORT, as node0:7777 or [fd00::1]:7777)"
            )
        })?);
    }
    match all.first() {
        None => Err(format!("{at} has no address")),
        Some(first) if first.port() == 0 => {
            Err(format!("{at} names no port, which all launchers must know"))
        }
        Some(_) => Ok(all),
    }
}

/// Listens at the place where launchers meet, for launcher 0.
pub(super) fn listen(at: &str, targets: &[SocketAddr]) -> Result<Listener, String> {
    let port = targets[0].port();
    let listener = listen_at_one(&own_addresses(at, targets), &(port..=port));
    listener.map_err(|error| format!("launcher 0 can't listen at {at}: {error}"))
}

/// Listens for the launchers that shall meet at this host, whose name or address is `host`, at one
/// of these ports; 0 stands for any free one.
///
/// # Errors
/// A text for the user.
pub fn listen_at(host: &str, ports: &RangeInclusive<u16>) -> Result<Listener, String> {
    let targets = (host, 0).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
    let targets: Vec<SocketAddr> = targets.collect();
    listen_at_one(&own_addresses(host, &targets), ports).map_err(|error| error.to_string())
}

/// Returns the addresses at which to listen, the best first: those of the place, and last all of
/// this host, as behind a translation of addresses. Some systems give a host's own name a loopback
/// address, where others do not reach it, so that one is left out.
fn own_addresses(at: &str, targets: &[SocketAddr]) -> Vec<IpAddr> {
    let is_meant = at.split(',').all(means_loopback);
    let any = [IpAddr::from(Ipv6Addr::UNSPECIFIED), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    let own = targets.iter().map(SocketAddr::ip).filter(|own| is_meant || !own.is_loopback());
    own.chain(any).collect()
}

/// Returns true if the user means a loopback address if a place has one.
fn means_loopback(place: &str) -> bool {
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    let is_address = place.parse::<SocketAddr>().is_ok() || place.parse::<IpAddr>().is_ok();
    is_address || host == "localhost"
}

/// Listens at the first of the addresses that this host has.
fn listen_at_one(
    addresses: &[IpAddr],
    ports: &RangeInclusive<u16>,
) -> Result<Listener, ListenError> {
    let mut why = None;
    for &address in addresses {
        match Listener::bind(address, ports.clone()) {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                if why.is_none() || matches!(error, ListenError::InUse { .. }) {
                    why = Some(error);
                }
            }
        }
    }
    Err(why.expect("all addresses of this host are among them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_this_host_is_not_reached_by_loopback_alone() {
        let any = ["::", "0.0.0.0"];
        let cases: [(&str, &[&str], &[&str]); 7] = [
            // As Debian has a host's own name.
            ("node0:7777", &["127.0.1.1"], &[]),
            ("node0", &["127.0.1.1"], &[]),
            ("node0:7777", &["127.0.1.1", "10.0.0.1"], &["10.0.0.1"]),
            ("127.0.0.1:7777,node0:7777", &["127.0.0.1", "127.0.1.1"], &[]),
            ("127.0.0.1:7777", &["127.0.0.1"], &["127.0.0.1"]),
            ("[::1]:7777", &["::1"], &["::1"]),
            ("localhost:7777", &["::1", "127.0.0.1"], &["::1", "127.0.0.1"]),
        ];
        for (at, targets, own) in cases {
            let target = |text: &&str| SocketAddr::new(text.parse().unwrap(), 7777);
            let targets: Vec<SocketAddr> = targets.iter().map(target).collect();
            let expected: Vec<IpAddr> =
                own.iter().chain(&any).map(|text| text.parse().unwrap()).collect();
            assert_eq!(own_addresses(at, &targets), expected, "{at}");
        }
    }

    #[test]
    fn a_port_is_that_of_the_range() {
        let listener = listen_at("127.0.0.1", &(0..=0)).unwrap();
        let port = listener.port();
        let why = listen_at("127.0.0.1", &(port..=port)).unwrap_err();
        assert!(why.contains("is in use"), "{why}");
        assert!(listen_at("no-such-host.invalid", &(0..=0)).is_err());
    }
}
