//! The graph in graphviz's language.

use super::{colour, text};
use goal_lang::Body;
use std::io::{self, Write};

/// Writes the graph of `rank`, which runs `body`, in the DOT language. Any size; linear.
///
/// # Errors
/// Those of `out`.
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

/// For a string in quotes. A NISA file's labels may be any text.
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
