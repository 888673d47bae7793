//! Finds the addresses and the port of the place where launchers meet, and listens there.

use goal_tcp::{ListenError, Listener};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::ops::RangeInclusive;

/// Returns the addresses of the place where launchers meet.
pub(super) fn resolve(at: &str) -> Result<Vec<SocketAddr>, String> {
    let mut all: Vec<SocketAddr> = Vec::new();
    for place in at.split(',') {
        all.extend(addresses(place).map_err(|error| {
            format!(
                "{place} is no place to meet: {error} (give HOST:PORT, as node0:7777, [fd00::1]:7777 or [fe80::1%eth0]:7777)"
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

/// Returns a listener at which the launchers of a job will meet. `host` is the name or the address
/// of this host. The listener has the first free port of `ports`; port 0 stands for any free port.
///
/// # Errors
/// A text for the user.
pub fn listen_at(host: &str, ports: &RangeInclusive<u16>) -> Result<Listener, String> {
    let targets = (host, 0).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
    let targets: Vec<SocketAddr> = targets.collect();
    listen_at_one(&own_addresses(host, &targets), ports).map_err(|error| error.to_string())
}

/// Returns the addresses at which to listen, the best first. They are the addresses `targets` of
/// `at`. If `at` has a name other than `localhost`, the unspecified addresses follow, which stand
/// for all addresses of this host. Some systems give a host's own name a loopback address. Other
/// hosts can't reach this host there, so loopback addresses are left out then. A user who gives
/// only addresses or `localhost` means no others.
fn own_addresses(at: &str, targets: &[SocketAddr]) -> Vec<SocketAddr> {
    let are_meant = at.split(',').all(is_meant);
    let any = [IpAddr::from(Ipv6Addr::UNSPECIFIED), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    let any = any.map(|address| SocketAddr::new(address, 0));
    let own = targets.iter().copied().filter(|own| are_meant || !own.ip().is_loopback());
    own.chain(any.into_iter().filter(|_| !are_meant)).collect()
}

/// Returns true if a place is an address, or a name that means the loopback address.
fn is_meant(place: &str) -> bool {
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    let is_address = place.starts_with('[')
        || place.parse::<SocketAddr>().is_ok()
        || place.parse::<IpAddr>().is_ok();
    is_address || host == "localhost"
}

/// Returns the addresses of a host and its port. The standard library refuses an address of IPv6
/// with a scope that is a name, such as `[fe80::1%eth0]:7777`.
fn addresses(place: &str) -> io::Result<Vec<SocketAddr>> {
    let scoped = || {
        let (address, port) = place.strip_prefix('[')?.split_once("]:")?;
        let (address, scope) = address.split_once('%')?;
        Some((address.parse::<Ipv6Addr>().ok()?, scope, port.parse::<u16>().ok()?))
    };
    let Some((address, scope, port)) = scoped() else {
        return Ok(place.to_socket_addrs()?.collect());
    };
    let index = match scope.parse() {
        Ok(index) => index,
        Err(_) => nix::net::if_::if_nametoindex(scope)
            .map_err(|_| io::Error::other(format!("this host has no interface {scope}")))?,
    };
    Ok(vec![SocketAddrV6::new(address, port, 0, index).into()])
}

/// Listens at the first of `addresses` that belongs to this host and has a free port among `ports`.
fn listen_at_one(
    addresses: &[SocketAddr],
    ports: &RangeInclusive<u16>,
) -> Result<Listener, ListenError> {
    let mut why = None;
    for &address in addresses {
        match Listener::bind_at(address, ports.clone()) {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                // The error about a port in use tells the user most, so the first such error is
                // returned.
                let is_in_use = |error: &ListenError| matches!(error, ListenError::InUse { .. });
                if why.as_ref().is_none_or(|why| !is_in_use(why) && is_in_use(&error)) {
                    why = Some(error);
                }
            }
        }
    }
    Err(why.expect("there is an address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_this_host_is_not_reached_by_loopback_alone() {
        let any: [&str; 2] = ["::", "0.0.0.0"];
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
            let any = if at.contains("node0") { &any[..] } else { &[] };
            let expected: Vec<IpAddr> =
                own.iter().chain(any).map(|text| text.parse().unwrap()).collect();
            let found = own_addresses(at, &targets);
            let found: Vec<IpAddr> = found.iter().map(SocketAddr::ip).collect();
            assert_eq!(found, expected, "{at}");
        }
    }

    /// Listening at all addresses instead would open the port to others than the user means.
    #[test]
    fn an_address_of_another_host_is_refused() {
        for at in ["192.0.2.1:7777", "[2001:db8::1]:7777"] {
            let why = listen(at, &resolve(at).unwrap()).unwrap_err();
            assert!(why.contains("is no address of this host"), "{why}");
        }
    }

    #[test]
    fn an_address_may_have_a_scope() {
        let Ok(index) = nix::net::if_::if_nametoindex("lo") else { return };
        let expected = SocketAddrV6::new("fe80::1".parse().unwrap(), 7777, 0, index);
        assert_eq!(resolve("[fe80::1%lo]:7777").unwrap(), [expected.into()]);
        assert_eq!(resolve(&format!("[fe80::1%{index}]:7777")).unwrap(), [expected.into()]);
        let why = resolve("[fe80::1%no-such-one]:7777").unwrap_err();
        assert!(why.contains("no interface no-such-one"), "{why}");
    }

    #[test]
    fn a_port_is_that_of_the_range() {
        let listener = listen_at("127.0.0.1", &(0..=0)).unwrap();
        let port = listener.port();
        let why = listen_at("127.0.0.1", &(port..=port)).unwrap_err();
        assert!(why.contains("of 127.0.0.1 is in use"), "{why}");
        assert!(listen_at("no-such-host.invalid", &(0..=0)).is_err());
    }
}
