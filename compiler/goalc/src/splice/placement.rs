//! The hosts on which the ranks of several programs are placed.

use super::numbers::RankList;
use crate::driver::Error;
use goal_lang::diag::quote;
use goal_lang::limits::Limits;

/// The hosts of some programs, each with its number or its name: `1:0-63,2:64-127`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placements(Vec<(String, RankList)>);

impl Placements {
    /// Parses entries with commas or line breaks between them. Text behind `#` is a comment.
    ///
    /// # Errors
    /// Returns a sentence about the first entry that is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut placements: Vec<(String, RankList)> = Vec::new();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let entries = lines.flat_map(|line| line.split(',')).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let (name, hosts) = match entry.rsplit_once(':') {
                Some((name, hosts)) => (Some(name), hosts),
                None => (None, entry),
            };
            let hosts: RankList = hosts.parse().map_err(|error| format!("{error}"))?;
            match (name, placements.last_mut()) {
                (Some(name), _) => placements.push((name.trim().to_owned(), hosts)),
                (None, Some((_, before))) => before.append(hosts),
                (None, None) => {
                    return Err(format!(
                        "{} has no program before it: give entries such as 1:0-63,2:64-127",
                        quote(entry.as_bytes())
                    ));
                }
            }
        }
        Ok(Self(placements))
    }
}

/// Returns the host of each rank of each program. `programs` has their names and numbers of ranks.
/// Without placements, programs lie one behind the other.
///
/// # Errors
/// Returns an error if a program has more or fewer hosts than ranks, or if two ranks share a host.
/// Returns an error if there are too many hosts.
pub(super) fn hosts(
    placements: Option<&Placements>,
    programs: &[(String, u32)],
    limits: &Limits,
) -> Result<Vec<Vec<u32>>, Error> {
    let lists = match placements {
        Some(placements) => named(placements, programs).map_err(Error::Usage)?,
        None => packed(programs, limits)?,
    };
    let mut hosts = Vec::with_capacity(lists.len());
    for ((name, ranks), list) in programs.iter().zip(lists) {
        if list.len() != u64::from(*ranks) {
            let given = list.len();
            let message = format!("{name} has {ranks} ranks, and its placement has {given} hosts");
            return Err(Error::Usage(message));
        }
        if let Some(host) = list.repeated() {
            let message = format!(
                "the placement of {name} names host {host} twice: give each of its ranks a host of its own"
            );
            return Err(Error::Usage(message));
        }
        if list.highest() >= limits.ranks_max {
            return Err(too_many(u64::from(list.highest()) + 1, limits));
        }
        hosts.push(list.ranks().collect());
    }
    Ok(hosts)
}

fn packed(programs: &[(String, u32)], limits: &Limits) -> Result<Vec<RankList>, Error> {
    let all: u64 = programs.iter().map(|(_, ranks)| u64::from(*ranks)).sum();
    if all > u64::from(limits.ranks_max) {
        return Err(too_many(all, limits));
    }
    let mut first = 0;
    let lists = programs.iter().map(|(_, ranks)| {
        first += ranks;
        RankList::consecutive(first - ranks, *ranks)
    });
    Ok(lists.collect())
}

fn too_many(ranks: u64, limits: &Limits) -> Error {
    Error::Usage(format!(
        "the result would have {ranks} ranks, and the limit is {}: raise it with --max-ranks",
        limits.ranks_max
    ))
}

/// Returns the list of each program.
fn named(placements: &Placements, programs: &[(String, u32)]) -> Result<Vec<RankList>, String> {
    let mut lists: Vec<Option<RankList>> = vec![None; programs.len()];
    for (name, list) in &placements.0 {
        let named = |(_, program): &(usize, &(String, u32))| program.0 == *name;
        let mut fitting = programs.iter().enumerate().filter(named);
        let number = name.parse().ok().filter(|number| (1..=programs.len()).contains(number));
        let at = match (fitting.next(), fitting.next(), number) {
            (Some((at, _)), None, _) => at,
            (_, _, Some(number)) => number - 1,
            (Some(_), Some(_), None) => {
                return Err(format!(
                    "{name} is given several times: name programs by their numbers, 1 for the first"
                ));
            }
            (None, _, None) => {
                return Err(format!(
                    "the placement names {}, which is no program of the command and no number from 1 to {}",
                    quote(name.as_bytes()),
                    programs.len()
                ));
            }
        };
        if lists[at].replace(list.clone()).is_some() {
            let (name, number) = (&programs[at].0, at + 1);
            return Err(format!("the placement has program {number}, {name}, twice"));
        }
    }
    let list = |(at, list): (usize, Option<RankList>)| {
        list.ok_or_else(|| {
            let (name, ranks) = &programs[at];
            format!("the placement lacks program {}, {name}: give it {ranks} hosts", at + 1)
        })
    };
    lists.into_iter().enumerate().map(list).collect()
}
