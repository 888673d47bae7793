//! Reads the distribution of ranks among hosts, as the user states it.

use goal_esp::wire::Mac;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// An invalid distribution of ranks, list of ranks or address of an interface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct PlanError(#[from] Fault);

/// The reason why a text, a list or a distribution is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// An invalid list of ranks.
    #[error("`{0}` is no list of ranks such as 0-3,8")]
    List(String),
    /// A list has a rank that the program does not have.
    #[error("the program has {ranks} ranks, from 0 on: there is no rank {rank}")]
    NoRank {
        /// The number of ranks of the program.
        ranks: u32,
        /// The rank in the list.
        rank: u32,
    },
    /// An invalid address of an interface.
    #[error("give an address such as 02:00:00:00:00:01")]
    Address,
    /// An address stands for several interfaces: it is a multicast address.
    #[error("give the address of one interface, not of several")]
    Group,
    /// A line of a peers file is wrong.
    #[error("line {number}: {error}")]
    Line {
        /// The number of the line, from 1 on.
        number: usize,
        /// The fault of the line.
        error: Box<Fault>,
    },
    /// A line does not consist of an address, perhaps followed by a list of ranks.
    #[error("a host is an address and a list of ranks without spaces")]
    Words,
    /// A host has two lines.
    #[error("{host} is in line {before} already")]
    Repeated {
        /// The host.
        host: Mac,
        /// The number of the host's first line.
        before: usize,
    },
    /// Some hosts have a list of ranks, and some have none.
    #[error("either all hosts have their ranks beside them or none has")]
    Mixed,
    /// A peers file names no host.
    #[error("there is no host in it")]
    Empty,
    /// The list of a host has a rank twice.
    #[error("{host} has rank {rank} twice")]
    Twice {
        /// The host.
        host: Mac,
        /// The rank.
        rank: u32,
    },
    /// Two hosts have the same rank.
    #[error("both {first} and {second} have rank {rank}")]
    Both {
        /// A host.
        first: Mac,
        /// The other host.
        second: Mac,
        /// The rank.
        rank: u32,
    },
    /// Some ranks are on no host.
    #[error("no host has {}", named(.0))]
    Unowned(Vec<u32>),
    /// Some host would have no rank.
    #[error("there are {hosts} hosts, but only {ranks} ranks: leave hosts out")]
    TooManyHosts {
        /// The number of hosts.
        hosts: u32,
        /// The number of ranks.
        ranks: u32,
    },
}

impl Fault {
    fn at(self, number: usize) -> Self {
        Self::Line { number, error: Box::new(self) }
    }
}

/// A list of ranks as users write it: `0-3,8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankList(Vec<RangeInclusive<u32>>);

impl RankList {
    /// Reads a list.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = || Fault::List(text.to_owned());
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
                true => text.parse::<u32>().ok(),
                false => None,
            };
            number(first).zip(number(last)).filter(|(first, last)| first <= last)
        };
        let ranges = text.split(',').map(|part| range(part).map(|(first, last)| first..=last));
        Ok(ranges.collect::<Option<_>>().map(Self).ok_or_else(wrong)?)
    }

    /// Returns the ranks of the list, for a program of `ranks` ranks.
    ///
    /// # Errors
    /// [`Fault::NoRank`].
    pub(crate) fn of(&self, ranks: u32) -> Result<Vec<u32>, Fault> {
        if let Some(range) = self.0.iter().find(|range| *range.end() >= ranks) {
            return Err(Fault::NoRank { ranks, rank: *range.end() });
        }
        Ok(self.0.iter().cloned().flatten().collect())
    }
}

/// A host of a peers file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The address of its interface.
    pub(crate) mac: Mac,
    /// The ranks of the host. `None` if it gets the next block of ranks.
    pub(crate) ranks: Option<RankList>,
}

/// The distribution of ranks among hosts, as the user states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan(pub(super) Distribution);

/// The forms of a [`Plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Distribution {
    /// The list of all hosts.
    Peers(Vec<Peer>),
    /// The number of hosts. They get blocks of ranks in the order of their addresses.
    Count(u32),
    /// The ranks of this host. The other hosts state their own.
    Here(RankList),
}

impl Plan {
    /// Returns the plan that gives blocks of ranks to `hosts` hosts, in the order of their
    /// addresses.
    pub fn count(hosts: u32) -> Self {
        Self(Distribution::Count(hosts))
    }

    /// Returns the plan in which this host has these ranks. The other hosts state their own.
    pub fn here(ranks: RankList) -> Self {
        Self(Distribution::Here(ranks))
    }

    /// Reads a peers file. It has a line for each host: its address, perhaps followed by its ranks.
    /// `#` begins a comment.
    ///
    /// # Errors
    /// [`PlanError`], with the line.
    pub fn peers(text: &str) -> Result<Self, PlanError> {
        Ok(Self(Distribution::Peers(peers(text)?)))
    }
}

fn peers(text: &str) -> Result<Vec<Peer>, Fault> {
    let mut peers: Vec<Peer> = Vec::new();
    let mut lines: BTreeMap<Mac, usize> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |error: Fault| error.at(number);
        let peer = match words.as_slice() {
            [] => continue,
            [address] => Peer { mac: address_of(address).map_err(at)?, ranks: None },
            [address, ranks] => {
                let ranks = Some(RankList::parse(ranks).map_err(|error| at(error.0))?);
                Peer { mac: address_of(address).map_err(at)?, ranks }
            }
            _ => {
                return Err(at(Fault::Words));
            }
        };
        if let Some(before) = lines.insert(peer.mac, number) {
            return Err(at(Fault::Repeated { host: peer.mac, before }));
        }
        if peers.first().is_some_and(|first| first.ranks.is_some() != peer.ranks.is_some()) {
            return Err(at(Fault::Mixed));
        }
        peers.push(peer);
    }
    if peers.is_empty() { Err(Fault::Empty) } else { Ok(peers) }
}

/// Returns the host of each rank.
///
/// # Errors
/// [`Fault`] if a rank is on no host or on two, or a host has no rank.
pub(super) fn owners(peers: &[Peer], ranks: u32) -> Result<Vec<Mac>, Fault> {
    if peers.iter().all(|peer| peer.ranks.is_none()) {
        return blocks(&peers.iter().map(|peer| peer.mac).collect::<Vec<_>>(), ranks);
    }
    let mut owners: Vec<Option<Mac>> = vec![None; ranks as usize];
    for Peer { mac, ranks: list } in peers {
        for rank in list.as_ref().expect("all have one").of(ranks)? {
            match owners[rank as usize].replace(*mac) {
                Some(other) if other == *mac => return Err(Fault::Twice { host: *mac, rank }),
                Some(first) => return Err(Fault::Both { first, second: *mac, rank }),
                None => {}
            }
        }
    }
    let missing: Vec<u32> = (0..ranks).filter(|&rank| owners[rank as usize].is_none()).collect();
    match owners.into_iter().collect() {
        Some(owners) => Ok(owners),
        None => Err(Fault::Unowned(missing)),
    }
}

/// Returns the host of each rank if each host has a block of consecutive ranks. The sizes of blocks
/// differ by at most one.
///
/// # Errors
/// [`Fault::TooManyHosts`].
pub(super) fn blocks<T: Copy>(hosts: &[T], ranks: u32) -> Result<Vec<T>, Fault> {
    let count = hosts.len() as u32;
    if count > ranks {
        return Err(Fault::TooManyHosts { hosts: count, ranks });
    }
    let (each, more) = (ranks / count, ranks % count);
    let sizes = (0..count).map(|number| each + u32::from(number < more));
    Ok(hosts.iter().zip(sizes).flat_map(|(&host, size)| (0..size).map(move |_| host)).collect())
}

/// Writes ascending ranks as a [`RankList`].
pub(crate) fn ranges(ranks: &[u32]) -> String {
    let mut text = String::new();
    for run in ranks.chunk_by(|one, next| one + 1 == *next) {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match run {
            [one] => write!(text, "{comma}{one}"),
            _ => write!(text, "{comma}{}-{}", run[0], run[run.len() - 1]),
        };
    }
    text
}

/// Writes ascending ranks after the word `rank` or `ranks`.
pub(super) fn named(ranks: &[u32]) -> String {
    format!("rank{} {}", if ranks.len() == 1 { "" } else { "s" }, ranges(ranks))
}

/// Reads the address of an interface.
///
/// # Errors
/// [`PlanError`].
pub fn mac(text: &str) -> Result<Mac, PlanError> {
    Ok(address_of(text)?)
}

fn address_of(text: &str) -> Result<Mac, Fault> {
    let bytes = text.split(':').map(|pair| match pair.len() {
        2 if pair.bytes().all(|byte| byte.is_ascii_hexdigit()) => u8::from_str_radix(pair, 16).ok(),
        _ => None,
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    let bytes: Option<[u8; 6]> = bytes.and_then(|bytes| bytes.try_into().ok());
    match bytes {
        // The lowest bit of the first byte marks the address of several interfaces.
        Some(bytes) if bytes[0] & 1 == 0 => Ok(Mac(bytes)),
        Some(_) => Err(Fault::Group),
        None => Err(Fault::Address),
    }
}
