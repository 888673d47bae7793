//! Parses the list of hosts of `--hosts`, and distributes the ranks among them.

use std::fmt;
use std::net::{IpAddr, TcpListener, ToSocketAddrs};
use std::ops::Range;

/// The most hosts in a list.
const HOSTS_MAX: usize = 65_536;

/// A host in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedHost {
    /// The argument for ssh: a name or address, perhaps with a user, such as `me@node1`.
    pub(crate) target: String,
    /// The most ranks that the host gets. `None` if the user gave no number.
    slots: Option<u32>,
}

/// The value of `--hosts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostList {
    /// The number of hosts, which search for each other.
    Count(u32),
    /// The hosts on which launchers are started. This host is the first.
    Names(Vec<ListedHost>),
}

impl HostList {
    /// Parses a number of hosts, or names such as `localhost,node1,node2:8`.
    ///
    /// # Errors
    /// A text for the user.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            return match text.parse() {
                Ok(0) | Err(_) => Err("a job has from 1 to 4294967295 hosts".to_owned()),
                Ok(count) => Ok(Self::Count(count)),
            };
        }
        let hosts: Vec<ListedHost> = text.split(',').map(host).collect::<Result<_, _>>()?;
        if hosts.len() > HOSTS_MAX {
            return Err(format!("these are more than {HOSTS_MAX} hosts"));
        }
        Ok(Self::Names(hosts))
    }
}

/// Parses a host: a name or an address, perhaps with a user before it and slots after it.
fn host(text: &str) -> Result<ListedHost, String> {
    let wrong = || format!("{text:?} is no host: give NAME, NAME:SLOTS or [ADDRESS]:SLOTS");
    let (user, rest) = match text.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, text),
    };
    let (name, slots) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (name, rest) = rest.split_once(']').ok_or_else(wrong)?;
            match rest.strip_prefix(':') {
                Some(slots) => (name, Some(slots)),
                None if rest.is_empty() => (name, None),
                None => return Err(wrong()),
            }
        }
        // An IPv6 address has more than one colon.
        None => match rest.split_once(':') {
            Some((name, slots)) if !slots.contains(':') => (name, Some(slots)),
            _ => (rest, None),
        },
    };
    let slots = match slots.map(str::parse::<u32>) {
        None => None,
        Some(Ok(slots)) if slots > 0 => Some(slots),
        Some(_) => return Err(wrong()),
    };
    // ssh would take a name that begins with a dash for an option.
    let is_word = |text: &str| {
        !text.is_empty()
            && !text.starts_with('-')
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'@')
    };
    if !is_word(name) || !user.is_none_or(is_word) {
        return Err(wrong());
    }
    let target = user.map_or(name.to_owned(), |user| format!("{user}@{name}"));
    Ok(ListedHost { target, slots })
}

/// Writes the name without the user.
impl fmt::Display for ListedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ListedHost {
    /// Returns the name or address without the user.
    pub(crate) fn name(&self) -> &str {
        self.target.rsplit_once('@').map_or(&*self.target, |(_, name)| name)
    }

    fn addresses(&self) -> Vec<IpAddr> {
        let all = (self.name(), 0).to_socket_addrs();
        all.map(|all| all.map(|address| address.ip()).collect()).unwrap_or_default()
    }

    /// Returns true if the name resolves to loopback addresses only.
    pub(crate) fn is_loopback(&self) -> bool {
        let all = self.addresses();
        !all.is_empty() && all.iter().all(IpAddr::is_loopback)
    }

    /// Returns true if the name means this host. A host can listen only at its own addresses.
    pub(crate) fn is_this_one(&self) -> bool {
        self.addresses().iter().any(|&address| TcpListener::bind((address, 0)).is_ok())
    }
}

/// Returns the ranks of each host, in the order of the list. If no host has slots, each host gets a
/// block of ranks. The lengths of blocks differ by at most one, and longer blocks come first. If a
/// host has slots, each host gets one rank for each slot, as long as ranks are left; a host without
/// slots has one slot.
///
/// # Errors
/// A text for the user.
pub(crate) fn blocks(hosts: &[ListedHost], ranks: u32) -> Result<Vec<Range<u32>>, String> {
    let count = hosts.len() as u32;
    if count > ranks {
        return Err(format!(
            "there can't be {count} hosts: the job has {ranks} ranks, and each host has one or more"
        ));
    }
    let has_slots = hosts.iter().any(|host| host.slots.is_some());
    let mut next = 0;
    let mut blocks = vec![];
    for (number, host) in (0..).zip(hosts) {
        let wanted = match has_slots {
            true => host.slots.unwrap_or(1),
            false => ranks / count + u32::from(number < ranks % count),
        };
        let len = wanted.min(ranks - next);
        if len == 0 {
            return Err(format!("no rank is left for host {host}: leave it out, or lower slots"));
        }
        blocks.push(next..next + len);
        next += len;
    }
    if next < ranks {
        return Err(format!("the hosts have slots for {next} ranks, and the job has {ranks}"));
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::{HostList, ListedHost, blocks};

    fn names(text: &str) -> Vec<ListedHost> {
        match HostList::parse(text) {
            Ok(HostList::Names(names)) => names,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn hosts_are_a_number_or_names() {
        assert_eq!(HostList::parse("12"), Ok(HostList::Count(12)));
        for (text, target, slots) in [
            ("node1", "node1", None),
            ("me@node1:4", "me@node1", Some(4)),
            ("fd00::1", "fd00::1", None),
            ("[fd00::1]:2", "fd00::1", Some(2)),
            ("[fd00::1]", "fd00::1", None),
        ] {
            let target = target.to_owned();
            assert_eq!(names(text), [ListedHost { target, slots }]);
        }
        for text in
            ["0", "", "a,,b", "a:0", "a:x", "-oProxyCommand=x", "me@-x", "[::1", "[::1]4", "a b"]
        {
            assert!(HostList::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranks_are_blocks_or_fill_slots() {
        let of = |text: &str, ranks| blocks(&names(text), ranks);
        assert_eq!(of("a,b,c", 7), Ok(vec![0..3, 3..5, 5..7]));
        assert_eq!(of("a:1,b:4", 4), Ok(vec![0..1, 1..4]));
        assert_eq!(of("a,b:2", 3), Ok(vec![0..1, 1..3]));
        for (text, ranks, says) in [
            ("a,b", 1, "there can't be 2 hosts"),
            ("a:2,b:1", 4, "have slots for 3 ranks"),
            ("a:4,b", 4, "no rank is left for host b"),
        ] {
            let why = of(text, ranks).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
