//! Who has which rank, as users say it.

use goal_esp::wire::Mac;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Ranks as users write them: `0-3,8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankList(Vec<RangeInclusive<u32>>);

impl RankList {
    /// Reads a list.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no list of ranks such as 0-3,8");
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
                true => text.parse::<u32>().ok(),
                false => None,
            };
            number(first).zip(number(last)).filter(|(first, last)| first <= last)
        };
        let ranges = text.split(',').map(|part| range(part).map(|(first, last)| first..=last));
        ranges.collect::<Option<_>>().map(Self).ok_or_else(wrong)
    }

    /// The ranks, of a program of `ranks`.
    ///
    /// # Errors
    /// If the program has fewer.
    pub fn of(&self, ranks: u32) -> Result<Vec<u32>, String> {
        if let Some(range) = self.0.iter().find(|range| *range.end() >= ranks) {
            return Err(format!(
                "the program has {ranks} ranks, from 0 on: there is no rank {}",
                range.end()
            ));
        }
        Ok(self.0.iter().cloned().flatten().collect())
    }
}

/// A host of a peers file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Address of its interface.
    pub mac: Mac,
    /// Its ranks; `None` for the next block.
    pub ranks: Option<RankList>,
}

/// How hosts and ranks go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// These hosts.
    Peers(Vec<Peer>),
    /// As many hosts, whichever they are: blocks of ranks by the order of their addresses.
    Count(u32),
    /// These ranks are here; the other hosts say theirs.
    Here(RankList),
}

impl Plan {
    /// The hosts of a peers file: one a line, its address and maybe its ranks; `#` begins a
    /// comment.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn peers(text: &str) -> Result<Self, String> {
        let mut peers: Vec<Peer> = Vec::new();
        let mut lines: BTreeMap<Mac, usize> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = |error: String| format!("line {number}: {error}");
            let peer = match words.as_slice() {
                [] => continue,
                [address] => Peer { mac: mac(address).map_err(at)?, ranks: None },
                [address, ranks] => {
                    let ranks = Some(RankList::parse(ranks).map_err(at)?);
                    Peer { mac: mac(address).map_err(at)?, ranks }
                }
                _ => {
                    return Err(at(
                        "a host is an address and a list of ranks without spaces".to_owned()
                    ));
                }
            };
            if let Some(before) = lines.insert(peer.mac, number) {
                return Err(at(format!("{} is in line {before} already", peer.mac)));
            }
            if peers.first().is_some_and(|first| first.ranks.is_some() != peer.ranks.is_some()) {
                return Err(at(
                    "either all hosts have their ranks beside them or none has".to_owned()
                ));
            }
            peers.push(peer);
        }
        if peers.is_empty() {
            Err("there is no host in it".to_owned())
        } else {
            Ok(Self::Peers(peers))
        }
    }
}

/// Which host each rank is on.
///
/// # Errors
/// A rank is on no host or on two, or a host has none.
pub(super) fn owners(peers: &[Peer], ranks: u32) -> Result<Vec<Mac>, String> {
    if peers.iter().all(|peer| peer.ranks.is_none()) {
        return blocks(&peers.iter().map(|peer| peer.mac).collect::<Vec<_>>(), ranks);
    }
    let mut owners: Vec<Option<Mac>> = vec![None; ranks as usize];
    for Peer { mac, ranks: list } in peers {
        for rank in list.as_ref().expect("all have one").of(ranks)? {
            match owners[rank as usize].replace(*mac) {
                Some(other) if other == *mac => return Err(format!("{mac} has rank {rank} twice")),
                Some(other) => return Err(format!("both {other} and {mac} have rank {rank}")),
                None => {}
            }
        }
    }
    let missing: Vec<u32> = (0..ranks).filter(|&rank| owners[rank as usize].is_none()).collect();
    match owners.into_iter().collect() {
        Some(owners) => Ok(owners),
        None => Err(format!("no host has {}", named(&missing))),
    }
}

/// Ranks in blocks of consecutive ones, which differ by at most one in size.
///
/// # Errors
/// There are more hosts than ranks.
pub(super) fn blocks(hosts: &[Mac], ranks: u32) -> Result<Vec<Mac>, String> {
    let count = hosts.len() as u32;
    if count > ranks {
        return Err(format!("there are {count} hosts, but only {ranks} ranks: leave hosts out"));
    }
    let (each, more) = (ranks / count, ranks % count);
    let sizes = (0..count).map(|number| each + u32::from(number < more));
    Ok(hosts.iter().zip(sizes).flat_map(|(&host, size)| (0..size).map(move |_| host)).collect())
}

/// Ascending ranks as a [`RankList`] is written.
pub fn ranges(ranks: &[u32]) -> String {
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

/// Ascending ranks in words.
pub(super) fn named(ranks: &[u32]) -> String {
    format!("rank{} {}", if ranks.len() == 1 { "" } else { "s" }, ranges(ranks))
}

/// The address of an interface, as users write it.
///
/// # Errors
/// What is wrong, in words.
pub fn mac(text: &str) -> Result<Mac, String> {
    let bytes = text.split(':').map(|pair| match pair.len() {
        2 if pair.bytes().all(|byte| byte.is_ascii_hexdigit()) => u8::from_str_radix(pair, 16).ok(),
        _ => None,
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    let bytes: Option<[u8; 6]> = bytes.and_then(|bytes| bytes.try_into().ok());
    match bytes {
        // The lowest bit of the first byte marks an address of several.
        Some(bytes) if bytes[0] & 1 == 0 => Ok(Mac(bytes)),
        Some(_) => Err("give the address of one interface, not of several".to_owned()),
        None => Err("give an address such as 02:00:00:00:00:01".to_owned()),
    }
}
