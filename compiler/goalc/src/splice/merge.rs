//! Places several programs on the ranks of one.

use super::assembly::{Assembly, AssemblyError, drop_places};
use super::data::has_data;
use super::placement::{Placements, hosts};
use super::tags::{Tags, changed, shifts};
use crate::driver::{Error, Ranks};
use goal_lang::limits::{Limits, TAG_MAX};
use goal_lang::{ANY, Action, Body, MemoryImage};

/// Programs that run at once. Each of their ranks is placed on a rank of the result, its host.
/// Actions of several programs on one host lie side by side, without dependencies. Then tags are
/// shifted, so that no two programs share one.
pub struct Merge {
    inputs: Vec<Ranks>,
    /// By program and rank, the host.
    hosts: Vec<Vec<u32>>,
    /// By program, what is added to its tags.
    shifts: Vec<u32>,
    /// By host, its programs and their ranks, one host behind the other.
    tenants: Vec<(u32, u32)>,
    /// By host, the end of its entries in `tenants`.
    ends: Vec<usize>,
}

impl Merge {
    /// Places the ranks of `inputs`: one program behind the other, or as `placements` says.
    ///
    /// # Errors
    /// Returns an error if the placement is wrong, if messages of two programs could not be told
    /// apart, or if an input is wrong or can't be read.
    pub fn new(
        mut inputs: Vec<Ranks>,
        placements: Option<&Placements>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let programs: Vec<(String, u32)> =
            inputs.iter().map(|input| (input.name.clone(), input.num_ranks())).collect();
        let hosts = hosts(placements, &programs, limits)?;
        let count = hosts.iter().flatten().max().map_or(0, |&host| host as usize + 1);
        let (tenants, ends) = tenants(&hosts, count);
        let is_shared = (0..count).any(|host| of_host(&ends, host).len() > 1);
        let none = vec![0; inputs.len()];
        let shifts = if is_shared { apart(&mut inputs)? } else { none };
        Ok(Self { inputs, hosts, shifts, tenants, ends })
    }

    /// Returns the number of ranks: one more than the highest host.
    pub fn num_ranks(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Returns true if all programs are read from files rank by rank.
    pub fn is_streamed(&self) -> bool {
        self.inputs.iter().all(Ranks::is_streamed)
    }

    /// Returns sentences about shifted tags and hosts without a program.
    pub fn notes(&self) -> Vec<String> {
        let shifted = self.inputs.iter().zip(&self.shifts).filter(|(_, shift)| **shift > 0);
        let mut notes: Vec<String> = shifted
            .map(|(input, shift)| {
                format!(
                    "the tags of {} are {shift} higher, because programs share hosts",
                    input.name
                )
            })
            .collect();
        let idle =
            (0..self.ends.len()).filter(|&host| of_host(&self.ends, host).is_empty()).count();
        if idle > 0 {
            notes.push(format!("{idle} of {} ranks have no program", self.ends.len()));
        }
        notes
    }

    /// Makes the rank of a host.
    ///
    /// # Errors
    /// Returns an error if an input is wrong or can't be read, or if programs can't share the host.
    pub fn rank(&mut self, host: u32) -> Result<(Body, Option<MemoryImage>), Error> {
        let Self { inputs, hosts, shifts, tenants, ends } = self;
        let tenants = &tenants[of_host(ends, host as usize)];
        let change = |program: u32, action| {
            let hosts = &hosts[program as usize];
            changed(action, |peer| hosts[peer as usize], shifts[program as usize])
        };
        let mut all = Assembly::default();
        let (mut image, mut with_data) = (None, None);
        for &(program, rank) in tenants {
            let input = &mut inputs[program as usize];
            let own_image = input.image(rank).filter(|image| !image.is_empty()).cloned();
            let name = input.name.clone();
            let body = input.body(rank)?;
            if tenants.len() > 1 {
                refuse_any_tag(&name, rank, host, &body)?;
            }
            if own_image.is_some() || has_data(&body) {
                if let Some(before) = with_data.replace(name.clone()) {
                    return Err(Error::Usage(format!(
                        "{before} and {name} both use memory on host {host}, where they would get each other's: place them apart"
                    )));
                }
                image = own_image;
            }
            let added = all.add(&body, |_, action| Some(change(program, action)));
            added.map_err(|error| of(host, &error))?;
        }
        let mut body = all.finish().map_err(|error| of(host, &error))?;
        drop_places(&mut body);
        Ok((body, image))
    }
}

/// Returns the programs and ranks of each host, and the end of each host's.
fn tenants(hosts: &[Vec<u32>], count: usize) -> (Vec<(u32, u32)>, Vec<usize>) {
    let mut ends = vec![0; count];
    hosts.iter().flatten().for_each(|&host| ends[host as usize] += 1);
    let mut end = 0;
    for host in &mut ends {
        // For now the start of the host's entries.
        end += std::mem::replace(host, end);
    }
    let mut tenants = vec![(0, 0); end];
    for (program, hosts) in (0..).zip(hosts) {
        for (rank, &host) in (0..).zip(hosts) {
            let next = &mut ends[host as usize];
            tenants[*next] = (program, rank);
            *next += 1;
        }
    }
    (tenants, ends)
}

/// Returns the place of a host's programs.
fn of_host(ends: &[usize], host: usize) -> std::ops::Range<usize> {
    host.checked_sub(1).map_or(0, |before| ends[before])..ends[host]
}

/// Returns what is added to the tags of each program so that no two share one.
fn apart(inputs: &mut [Ranks]) -> Result<Vec<u32>, Error> {
    let mut tags = Vec::with_capacity(inputs.len());
    for input in inputs {
        tags.push(Tags::new(input)?);
    }
    shifts(&tags).ok_or_else(|| {
        let all: u64 = tags.iter().map(|tags| tags.end).sum();
        Error::Usage(format!(
            "programs that share hosts must not share tags, which would be {all} tags, more than {TAG_MAX}: place them apart, or use smaller tags"
        ))
    })
}

fn refuse_any_tag(name: &str, rank: u32, host: u32, body: &Body) -> Result<(), Error> {
    let takes_any = |action: &Action| matches!(action, Action::Recv { tag: ANY, .. });
    match body.actions.iter().any(takes_any) {
        true => Err(Error::Usage(format!(
            "{name}: rank {rank} receives with any tag, which may take messages of another program on host {host}: give the receive a tag, or the rank a host of its own"
        ))),
        false => Ok(()),
    }
}

fn of(host: u32, error: &AssemblyError) -> Error {
    Error::Usage(format!("the programs of host {host} can't be put together: {error}"))
}
