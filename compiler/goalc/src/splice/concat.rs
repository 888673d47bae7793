//! Lets programs follow each other on the same ranks.

use super::assembly::{Assembly, AssemblyError, drop_places};
use super::data::dummy;
use super::tags::{Tags, changed, shifts};
use crate::driver::{Error, Ranks};
use goal_lang::limits::TAG_MAX;
use goal_lang::{ActionId, Body, MemoryImage, Placement};

/// Programs that follow each other. Each rank begins a program when it has ended the one before.
///
/// The messages of two ranks with one tag keep the order of the programs, because MPI matches them
/// in the order in which they are sent. A receive from any source could take a message of a later
/// program. So tags are shifted if a program before the last has such a receive.
pub struct Concat {
    inputs: Vec<Ranks>,
    shifts: Vec<u32>,
    num_ranks: u32,
}

impl Concat {
    /// Prepares the sequence of `inputs`.
    ///
    /// # Errors
    /// Returns an error if messages of two programs could not be told apart, if memory is stated
    /// between two programs, or if an input is wrong or can't be read.
    pub fn new(mut inputs: Vec<Ranks>) -> Result<Self, Error> {
        refuse_images_between(&inputs)?;
        let num_ranks = inputs.iter().map(Ranks::num_ranks).max().unwrap_or(0);
        let mut tags = Vec::with_capacity(inputs.len());
        for input in &mut inputs {
            tags.push(Tags::new(input)?);
        }
        let before_last = tags.len().saturating_sub(1);
        let wild = |tags: &&Tags| tags.any_source.is_some();
        let mut none = vec![0; inputs.len()];
        if tags[..before_last].iter().any(|tags| wild(&tags)) {
            if let Some((input, rank)) =
                inputs.iter().zip(&tags[..before_last]).find_map(|(i, t)| Some((i, t.any?)))
            {
                return Err(Error::Usage(format!(
                    "{}: rank {rank} receives from any source with any tag, which may take messages of the next program: give the receive a source or a tag",
                    input.name
                )));
            }
            none = shifts(&tags).ok_or_else(|| too_many(&tags))?;
        }
        Ok(Self { inputs, shifts: none, num_ranks })
    }

    /// Returns the number of ranks: that of the largest program.
    pub fn num_ranks(&self) -> u32 {
        self.num_ranks
    }

    /// Returns true if all programs are read from files rank by rank.
    pub fn is_streamed(&self) -> bool {
        self.inputs.iter().all(Ranks::is_streamed)
    }

    /// Returns sentences about what may surprise: programs of fewer ranks, and shifted tags.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (input, shift) in self.inputs.iter().zip(&self.shifts) {
            let (name, ranks) = (&input.name, input.num_ranks());
            if ranks < self.num_ranks {
                notes.push(format!("{name} has {ranks} of the {} ranks", self.num_ranks));
            }
            if *shift > 0 {
                notes.push(format!(
                    "the tags of {name} are {shift} higher, because a program before receives from any source"
                ));
            }
        }
        notes
    }

    /// Makes a rank.
    ///
    /// # Errors
    /// Returns an error if an input is wrong or can't be read, or if the rank would be too large.
    pub fn rank(&mut self, rank: u32) -> Result<(Body, Option<MemoryImage>), Error> {
        let last = self.inputs.len() - 1;
        let mut image = MemoryImage::default();
        let mut all = Assembly::default();
        // The actions that nothing waits for the end of.
        let mut ends = Vec::new();
        for (at, (input, &shift)) in self.inputs.iter_mut().zip(&self.shifts).enumerate() {
            if rank >= input.num_ranks() {
                continue;
            }
            let stated = input.image(rank).cloned().unwrap_or_default();
            if at == 0 {
                image.init = stated.init;
            }
            if at == last {
                image.expect = stated.expect;
            }
            let body = input.body(rank)?;
            if !body.is_empty() {
                ends = follow(&mut all, &body, &ends, shift).map_err(|error| of(rank, &error))?;
            }
        }
        let mut body = all.finish().map_err(|error| of(rank, &error))?;
        drop_places(&mut body);
        Ok((body, (!image.is_empty()).then_some(image)))
    }
}

/// Adds a body behind the actions that are there. Their last ones are `ends`. Returns the last
/// actions of the body.
fn follow(
    all: &mut Assembly,
    body: &Body,
    ends: &[ActionId],
    shift: u32,
) -> Result<Vec<ActionId>, AssemblyError> {
    let between = match all.is_empty() {
        true => None,
        false => Some(all.action(dummy(Placement::default()))?),
    };
    let first = all.len();
    all.add(body, |_, action| Some(changed(action, |peer| peer, shift)))?;
    let place = |id: ActionId| ActionId::new(first + id.index());
    if let Some(between) = between {
        ends.iter().for_each(|&end| all.requires(between, end));
        let indegrees = body.indegrees();
        let roots = body.ids().filter(|id| indegrees[id.index()] == 0);
        roots.for_each(|root| all.requires(place(root), between));
    }
    Ok(body.ids().filter(|&id| body.requires.row(id).is_empty()).map(place).collect())
}

fn of(rank: u32, error: &AssemblyError) -> Error {
    Error::Usage(format!("rank {rank} can't be put together: {error}"))
}

fn too_many(tags: &[Tags]) -> Error {
    let all: u64 = tags.iter().map(|tags| tags.end).sum();
    Error::Usage(format!(
        "receives from any source need tags that no other program has, which would be {all} tags, more than {TAG_MAX}: give the receives a source, or use smaller tags"
    ))
}

/// Refuses initial values of all programs but the first, and expected ones of all but the last:
/// they would hold in the middle of the result.
fn refuse_images_between(inputs: &[Ranks]) -> Result<(), Error> {
    let last = inputs.len().saturating_sub(1);
    for (at, input) in inputs.iter().enumerate() {
        for rank in 0..input.num_ranks() {
            let Some(image) = input.image(rank) else { continue };
            let (what, whose) = match () {
                () if at > 0 && !image.init.is_empty() => ("init", "the first"),
                () if at < last && !image.expect.is_empty() => ("expect", "the last"),
                () => continue,
            };
            return Err(Error::Usage(format!(
                "{}: rank {rank} has `{what}`, which only {whose} program may have: remove it",
                input.name
            )));
        }
    }
    Ok(())
}
