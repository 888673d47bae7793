//! The graph in graphviz's language.

use super::messages::messages;
use super::{colour, text};
use goal_lang::{Body, Program};
use goal_opt::whole::{TooLarge, Whole};
use std::io::{self, Write};

/// Writes the graph of `rank`, which runs `body`, in the DOT language. Takes linear time.
///
/// # Errors
/// An error of `out`.
pub fn dot(body: &Body, rank: u32, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph \"rank {rank}\" {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"monospace\"];")?;
    for id in body.ids() {
        let fill = colour(body.action(id).kind());
        writeln!(out, "  a{id} [label=\"{}\", fillcolor=\"{fill}\"];", escaped(&text(body, id)))?;
    }
    for edge in body.requires.edges() {
        writeln!(out, "  a{} -> a{};", edge.prerequisite, edge.waiter)?;
    }
    for edge in body.irequires.edges() {
        writeln!(out, "  a{} -> a{} [style=dashed];", edge.prerequisite, edge.waiter)?;
    }
    writeln!(out, "}}")
}

/// Writes the graphs of all ranks, a cluster each, and their messages, in the DOT language.
///
/// # Errors
/// Returns an error if `out` fails or the actions of all ranks are too many to be numbered.
pub fn dot_of_ranks(program: &Program, out: &mut dyn Write) -> io::Result<()> {
    let too_large = |error: TooLarge| io::Error::new(io::ErrorKind::InvalidInput, error);
    let whole = Whole::new(program).map_err(too_large)?;
    writeln!(out, "digraph \"program\" {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"monospace\"];")?;
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        writeln!(out, "  subgraph cluster_{rank} {{")?;
        writeln!(
            out,
            "    label=\"rank {rank}\"; fontname=\"monospace\"; style=filled; color=\"#f4f6f8\";"
        )?;
        for id in body.ids() {
            let (fill, text) = (colour(body.action(id).kind()), escaped(&text(body, id)));
            writeln!(out, "    r{rank}a{id} [label=\"{text}\", fillcolor=\"{fill}\"];")?;
        }
        for edge in body.requires.edges() {
            writeln!(out, "    r{rank}a{} -> r{rank}a{};", edge.prerequisite, edge.waiter)?;
        }
        for edge in body.irequires.edges() {
            writeln!(
                out,
                "    r{rank}a{} -> r{rank}a{} [style=dashed];",
                edge.prerequisite, edge.waiter
            )?;
        }
        writeln!(out, "  }}")?;
    }
    for (send, receive) in messages(&whole) {
        let name = |vertex| format!("r{}a{}", whole.rank(vertex), whole.id(vertex));
        writeln!(out, "  {} -> {} [color=\"#b5482a\"];", name(send), name(receive))?;
    }
    writeln!(out, "}}")
}

/// Escapes text for a string in quotes. A NISA file's labels may be any text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
