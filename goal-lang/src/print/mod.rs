//! Prints programs as text, in either spelling, that parses to the same program.
//!
//! The order of actions comes back exactly, and so do dependencies, buffers, placements and memory
//! images. The stated order of dependencies comes back as far as a simulator sees it: the order of
//! all actions that wait for one action. Labels come back where they are names of the language and
//! unique in their body. Other actions that a dependency names get `l1`, `l2`, ... One kind of
//! datum changes its type. Floats with a NaN other than the canonical one are printed as unsigned
//! integers of the same bytes.

mod actions;
mod collectives;
mod labels;
mod memory;
mod output;
#[cfg(test)]
mod tests;

use std::io;

pub(crate) use labels::RESERVED;
pub use output::Style;

use crate::ids::{BodyId, ImageId};
use crate::program::{Action, Body, Payload, Program};
use crate::symmetric::SymmetricProgram;
use output::Output;

/// Prints a program.
///
/// A dependency stands after the later of its two actions, so that readers without forward
/// references understand it. In [`Style::Schedgen`], LogGOPSim's parser can read every program that
/// its language has the words for. Each rank of such a program gets a block of its own, in order,
/// and labels are names of that language too.
///
/// # Errors
/// Those of `out`.
pub fn print(program: &Program, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut out = Output::new(out, style);
    out.for_loggopsim = style == Style::Schedgen && loggopsim_reads(program);
    if out.for_loggopsim {
        return print_for_loggopsim(out, program);
    }
    let groups = Groups::new(program);
    if style == Style::Schedgen || program.ranks.is_empty() || groups.any_for_all() {
        out.text("num_ranks ");
        out.number(u64::from(program.num_ranks()));
        out.end_statement()?;
    }
    for (rank, entry) in program.ranks.iter().enumerate() {
        let users = groups.users(entry.body);
        if users[0] as usize != rank {
            continue;
        }
        let body = &program.bodies[entry.body.index()];
        if users.iter().all(|&user| program.ranks[user as usize].image == entry.image) {
            print_block(&mut out, program, users, entry.image, Some(body))?;
        } else {
            print_block(&mut out, program, users, None, Some(body))?;
            print_images(&mut out, program, users)?;
        }
    }
    out.flush()
}

/// Prints the ranks of a program whose bodies are made one at a time, so that only one is in
/// memory.
///
/// # Errors
/// Those of `out` and of `body`.
pub fn print_ranks<E: From<io::Error>>(
    num_ranks: u32,
    style: Style,
    out: &mut dyn io::Write,
    mut body: impl FnMut(u32) -> Result<Body, E>,
) -> Result<(), E> {
    let mut out = Output::new(out, style);
    out.text("num_ranks ");
    out.number(u64::from(num_ranks));
    out.end_statement()?;
    for rank in 0..num_ranks {
        let body = body(rank)?;
        out.open_block(&[rank], num_ranks)?;
        print_scratch(&mut out, &body)?;
        actions::print(&mut out, &body)?;
        out.close_block()?;
    }
    Ok(out.flush()?)
}

/// Prints a program as one block for all ranks, with relative peers. [`parse_symmetric`] reads it
/// back.
///
/// # Errors
/// Those of `out`.
///
/// [`parse_symmetric`]: crate::parse_symmetric
pub fn print_symmetric(
    program: &SymmetricProgram,
    style: Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut out = Output::new(out, style);
    out.text("num_ranks ");
    out.number(u64::from(program.num_ranks));
    out.end_statement()?;
    out.relation = Some((program.relation, program.num_ranks));
    out.open_block_of_all();
    print_scratch(&mut out, &program.body)?;
    actions::print(&mut out, &program.body)?;
    out.close_block()?;
    out.flush()
}

/// Returns true if LogGOPSim's language can express all of a program. The language has sends and
/// receives without buffers, markers, and calcs without a network interface. Collective statements
/// belong to extensions of the language.
fn loggopsim_reads(program: &Program) -> bool {
    let is_known = |action: &Action| match *action {
        Action::Send { payload, .. } | Action::Recv { payload, .. } => {
            matches!(payload, Payload::Pattern { .. })
        }
        Action::Calc { placement, .. } => placement.nic == 0,
        Action::Marker { .. } => true,
        _ => false,
    };
    !program.ranks.is_empty()
        && program.bodies.iter().all(|body| {
            let is_known = |id| is_known(body.action(id)) || body.collective(id).is_some();
            body.scratch == 0 && body.ids().all(is_known)
        })
        && program.ranks.iter().all(|entry| entry.image.is_none())
}

fn print_for_loggopsim(mut out: Output<'_>, program: &Program) -> io::Result<()> {
    out.text("num_ranks ");
    out.number(u64::from(program.num_ranks()));
    out.end_statement()?;
    for (rank, entry) in program.ranks.iter().enumerate() {
        let body = &program.bodies[entry.body.index()];
        print_block(&mut out, program, &[rank as u32], None, Some(body))?;
    }
    out.flush()
}

/// Returns the statement of one action of `body`, without the action's label.
pub fn statement(body: &Body, action: &Action, style: Style) -> String {
    let mut text = Vec::new();
    let mut out = Output::new(&mut text, style);
    actions::print_action(&mut out, body, action);
    out.flush().expect("a vector takes every byte");
    drop(out);
    String::from_utf8(text).expect("statements are text")
}

/// Prints the images of `users`, ranks that share a body but not their memory. Each image is
/// printed once.
fn print_images(out: &mut Output<'_>, program: &Program, users: &[u32]) -> io::Result<()> {
    let mut by_image: Vec<(ImageId, u32)> = users
        .iter()
        .filter_map(|&rank| program.ranks[rank as usize].image.map(|image| (image, rank)))
        .collect();
    by_image.sort_unstable();
    for same in by_image.chunk_by(|a, b| a.0 == b.0) {
        let ranks: Vec<u32> = same.iter().map(|&(_, rank)| rank).collect();
        print_block(out, program, &ranks, Some(same[0].0), None)?;
    }
    Ok(())
}

fn print_block(
    out: &mut Output<'_>,
    program: &Program,
    ranks: &[u32],
    image: Option<ImageId>,
    body: Option<&Body>,
) -> io::Result<()> {
    out.open_block(ranks, program.num_ranks())?;
    if let Some(body) = body {
        print_scratch(out, body)?;
    }
    if let Some(image) = image {
        memory::print(out, &program.images[image.index()])?;
    }
    if let Some(body) = body {
        actions::print(out, body)?;
    }
    out.close_block()
}

fn print_scratch(out: &mut Output<'_>, body: &Body) -> io::Result<()> {
    if body.scratch > 0 {
        out.begin_statement();
        out.text("scratch ");
        out.number(body.scratch);
        out.end_statement()?;
    }
    Ok(())
}

/// The ranks of every body, ascending.
struct Groups {
    starts: Vec<u32>,
    ranks: Vec<u32>,
}

impl Groups {
    fn new(program: &Program) -> Self {
        let mut starts = vec![0u32; program.bodies.len() + 1];
        for entry in &program.ranks {
            starts[entry.body.index() + 1] += 1;
        }
        for body in 0..program.bodies.len() {
            starts[body + 1] += starts[body];
        }
        let mut next = starts.clone();
        let mut ranks = vec![0; program.ranks.len()];
        for (rank, entry) in program.ranks.iter().enumerate() {
            let at = &mut next[entry.body.index()];
            ranks[*at as usize] = rank as u32;
            *at += 1;
        }
        Self { starts, ranks }
    }

    fn users(&self, body: BodyId) -> &[u32] {
        let body = body.index();
        &self.ranks[self.starts[body] as usize..self.starts[body + 1] as usize]
    }

    /// Returns true if there are several ranks and all share one body. The block of that body is
    /// `rank *`, which needs `num_ranks`.
    fn any_for_all(&self) -> bool {
        let all = self.ranks.len();
        all > 1 && self.starts.windows(2).any(|pair| (pair[1] - pair[0]) as usize == all)
    }
}
