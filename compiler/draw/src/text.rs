//! Writes a diagram in characters, for terminals: a line for each rank, time from left to right.
//!
//! Only the picture's own characters and the texts of titles are written. Control characters of
//! those are replaced, since a terminal would obey them.

use crate::diagram::{Axis, Body, Detail, Diagram, Group, Kind, Shape, State, Summary};
use crate::unit::{Duration, is_unfit, shortened};
use std::fmt::Write;

/// The least width of a picture.
const WIDTH_MIN: usize = 40;
/// The widest cell of a step.
const CELL_MAX: usize = 18;
/// Most blocks below each other, if the steps do not fit side by side.
const BLOCKS_MAX: usize = 4;

/// Returns a diagram in lines of at most `width` characters.
pub fn text(diagram: &Diagram, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut out = String::new();
    line(&mut out, &diagram.title, width);
    line(&mut out, &diagram.subtitle, width);
    out.push('\n');
    match &diagram.body {
        Body::Detail(detail) if diagram.axis == Axis::Steps => {
            if !cells(&mut out, diagram, detail, width) {
                bars(&mut out, diagram, detail, width);
            }
        }
        Body::Detail(detail) => bars(&mut out, diagram, detail, width),
        Body::Summary(summary) => sums(&mut out, diagram, summary, width),
    }
    for (number, finding) in diagram.findings.iter().enumerate() {
        match finding.code.as_str() {
            "" => wrapped(&mut out, &finding.text, width),
            code => {
                wrapped(&mut out, &format!("[{}] {code}: {}", number + 1, finding.text), width);
            }
        }
    }
    diagram.notes.iter().for_each(|note| wrapped(&mut out, note, width));
    out
}

/// Writes a line that is cut at the width.
fn line(out: &mut String, text: &str, width: usize) {
    let _ = writeln!(out, "{}", clean(&shortened(text, width)));
}

/// Replaces control characters.
fn clean(text: &str) -> String {
    text.chars().map(|c| if is_unfit(c) { '\u{fffd}' } else { c }).collect()
}

/// Writes words in lines.
fn wrapped(out: &mut String, text: &str, width: usize) {
    let mut length = 0;
    for word in text.split_whitespace() {
        let word = clean(&shortened(word, width));
        let chars = word.chars().count();
        if length > 0 && length + 1 + chars > width {
            out.push('\n');
            length = 0;
        }
        if length > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(&word);
        length += chars;
    }
    out.push('\n');
}

/// Returns what stands for a shape in a cell. `!` is in front of what waits for ever, `?` of a
/// message without another end, and `-` of what never starts.
fn cell(shape: &Shape, is_long: bool) -> String {
    let text = match (is_long, shape.short.is_empty()) {
        (true, _) | (_, true) => &shape.label,
        _ => &shape.short,
    };
    let sign = match shape.state {
        State::Done => "",
        State::Blocked => "!",
        State::Unmatched => "?",
        State::Unstarted => "-",
    };
    format!("{sign}{text}")
}

/// Writes each action of each step with its text. Returns false, and writes nothing, if there is no
/// room.
fn cells(out: &mut String, diagram: &Diagram, detail: &Detail, width: usize) -> bool {
    let name_width = name_width(detail);
    let room = width - name_width - 3;
    // By lane and step, the texts of its shapes.
    let steps = diagram.end as usize;
    let fill = |is_long: bool| {
        let mut cells = vec![vec![Vec::new(); steps]; detail.lanes.len()];
        for shape in &detail.shapes {
            let cell = cell(shape, is_long);
            let texts: &mut Vec<(String, usize)> =
                &mut cells[shape.lane as usize][shape.begin as usize];
            match texts.iter_mut().find(|(text, _)| *text == cell) {
                Some((_, count)) => *count += 1,
                None => texts.push((cell, 1)),
            }
        }
        let text = |(text, count): (String, usize)| match count {
            1 => text,
            count => format!("{count}x {text}"),
        };
        let texts = |texts: Vec<(String, usize)>| texts.into_iter().map(text).collect::<Vec<_>>();
        let lane =
            |lane: Vec<Vec<(String, usize)>>| lane.into_iter().map(texts).collect::<Vec<_>>();
        cells.into_iter().map(lane).collect::<Vec<_>>()
    };
    let widest = |cells: &[Vec<Vec<String>>]| {
        let texts = cells.iter().flatten().flatten();
        texts.map(|text| text.chars().count()).max().unwrap_or(1)
    };
    let mut texts = fill(true);
    let mut column = widest(&texts) + 1;
    if column * steps > room || column > CELL_MAX {
        texts = fill(false);
        column = widest(&texts) + 1;
    }
    let per_block = (room / column).min(steps.max(1));
    if per_block == 0 || steps.div_ceil(per_block.max(1)) > BLOCKS_MAX {
        return false;
    }
    for block in (0..steps).step_by(per_block) {
        let range = block..(block + per_block).min(steps);
        let _ = write!(out, "{:>name_width$} ", "step");
        for step in range.clone() {
            let _ = write!(out, " {step:<width$}", width = column - 1);
        }
        trim(out);
        for (lane, of_lane) in detail.lanes.iter().zip(&texts) {
            let rows = of_lane[range.clone()].iter().map(Vec::len).max().unwrap_or(0).max(1);
            for row in 0..rows {
                let name = if row == 0 { format!("rank {}", lane.rank) } else { String::new() };
                let _ = write!(out, "{name:>name_width$} \u{2502}");
                for step in range.clone() {
                    let text = of_lane[step].get(row).map_or("", String::as_str);
                    let _ = write!(out, "{:<width$} ", clean(text), width = column - 1);
                }
                trim(out);
            }
        }
        out.push('\n');
    }
    true
}

fn trim(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

fn name_width(detail: &Detail) -> usize {
    detail.lanes.iter().map(|lane| format!("rank {}", lane.rank).len()).max().unwrap_or(4).max(4)
}

/// The letters of the kinds of shapes.
const LETTERS: &str = "s sends, r receives, o operates, c computes, . waits, ! waits for ever";

fn letter(shape: &Shape) -> char {
    match (shape.state, shape.kind) {
        (State::Blocked | State::Unmatched, _) => '!',
        (State::Unstarted, _) => '-',
        (_, Kind::Send) => 's',
        (_, Kind::Receive) => 'r',
        (_, Kind::Operation) => 'o',
        (_, Kind::Calculation) => 'c',
        (_, Kind::Nop) => '\'',
        (_, Kind::Waiting) => '.',
    }
}

/// Writes a letter for what each rank does most in each part of the time.
fn bars(out: &mut String, diagram: &Diagram, detail: &Detail, width: usize) {
    let name_width = name_width(detail);
    let columns = (width - name_width - 2).min(diagram.end.clamp(1, 1 << 16) as usize);
    let place = |time: u64| {
        ((u128::from(time) * columns as u128) / u128::from(diagram.end.max(1))) as usize
    };
    let mut rows = vec![vec![(0_u64, ' '); columns]; detail.lanes.len()];
    for shape in &detail.shapes {
        let (from, to) = (place(shape.begin), place(shape.end).max(place(shape.begin) + 1));
        let row = &mut rows[shape.lane as usize];
        for cell in row.iter_mut().take(to).skip(from) {
            // A wait gives way to everything else.
            let weight = match shape.kind {
                Kind::Waiting => 1,
                _ => 2 + (shape.end - shape.begin),
            };
            if weight > cell.0 {
                *cell = (weight, letter(shape));
            }
        }
    }
    for (lane, row) in detail.lanes.iter().zip(rows) {
        let name = format!("rank {}", lane.rank);
        let letters: String = row.into_iter().map(|(_, letter)| letter).collect();
        let _ = write!(out, "{name:>name_width$} \u{2502}{letters}");
        trim(out);
    }
    axis(out, diagram, name_width, columns);
    wrapped(out, LETTERS, width);
}

/// Writes the ends of the axis.
fn axis(out: &mut String, diagram: &Diagram, name_width: usize, columns: usize) {
    let end = match diagram.axis {
        Axis::Steps => format!("step {}", diagram.end.saturating_sub(1)),
        Axis::Simulated | Axis::Measured => Duration(diagram.end).to_string(),
    };
    let _ = writeln!(out, "{:name_width$} 0{end:>width$}", "", width = columns.max(1));
}

/// Writes a letter for what each group of ranks does most in each part of the time.
fn sums(out: &mut String, diagram: &Diagram, summary: &Summary, width: usize) {
    let all =
        Group { first: summary.groups.first().map_or(0, |group| group.first), last: diagram.ranks };
    let name_width = name(&all).len() + 2;
    let bins = summary.shares.first().map_or(1, Vec::len).max(1);
    let room = width - name_width - 2;
    let columns = if bins < room { room / bins * bins } else { room };
    let mut lines: Vec<(Group, String)> = Vec::new();
    for (group, shares) in summary.groups.iter().zip(&summary.shares) {
        let letters: String = (0..columns)
            .map(|column| {
                let first = column * bins / columns;
                let range = first..((column + 1) * bins / columns).clamp(first + 1, bins);
                let mut sums = [0_u32; 4];
                let count = range.len().max(1) as u32;
                for shares in &shares[range] {
                    sums = std::array::from_fn(|work| sums[work] + u32::from(shares[work]));
                }
                let ended = (1000 * count).saturating_sub(sums.iter().sum());
                let letters = ['c', 's', 'r', '.', ' '];
                let [computing, sending, receiving, waiting] = sums;
                let all = [computing, sending, receiving, waiting, ended];
                let most = all.iter().max().copied().unwrap_or(0);
                letters[all.iter().position(|&sum| sum == most).unwrap_or(4)]
            })
            .collect();
        lines.push((*group, letters));
    }
    alike(out, lines, name_width);
    axis(out, diagram, name_width, columns);
    wrapped(out, LETTERS, width);
}

/// Writes lines of letters. Neighbours that are alike become one line.
fn alike(out: &mut String, lines: Vec<(Group, String)>, name_width: usize) {
    for lines in lines.chunk_by(|(_, one), (_, other)| one == other) {
        let (first, last) = (lines[0].0.first, lines[lines.len() - 1].0.last);
        let name = name(&Group { first, last });
        let _ = write!(out, "{name:>name_width$} \u{2502}{}", lines[0].1);
        trim(out);
    }
}

/// Returns the name of ranks.
fn name(group: &Group) -> String {
    match group {
        Group { first, last } if first == last => format!("rank {first}"),
        Group { first, last } => format!("ranks {first}-{last}"),
    }
}
