//! Draws all ranks in one picture: a lane for each, with messages from lane to lane. An action
//! stands to the right of the actions that it waits for, and a receive to the right of its send, so
//! time runs from left to right in all lanes together.

use super::escaped_xml as escaped;
use super::layers::Layers;
use super::messages::{columns, messages};
use super::svg::{BOX_HEIGHT, Drawing, GAP, MARGIN, SvgError, head, width_of};
use crate::limits::{SVG_ACTIONS_MAX, SVG_DEPENDENCIES_MAX};
use goal_lang::{Program, Style, statement};
use goal_opt::whole::{Vertex, Whole};
use std::fmt::Write as _;
use std::io::Write;

/// Room for the name of a rank at the left end of its lane.
const NAME_WIDTH: f64 = 76.0;
/// Room above and below the boxes of a lane.
const LANE_PADDING: f64 = 14.0;
/// Distance from the corner of a box to the ends of messages.
const CORNER: f64 = 14.0;

/// Draws the graphs of all ranks and their messages or, if these are too many to read, the graphs
/// and messages of the first ranks. Returns the number of ranks that are drawn.
///
/// # Errors
/// Returns an error if the first rank alone has too many actions or dependencies to read, or if
/// `out` fails.
pub fn svg_of_ranks(program: &Program, out: &mut dyn Write) -> Result<u32, SvgError> {
    let whole = Whole::new(program).map_err(|error| SvgError::TooLarge {
        actions: usize::try_from(error.0).unwrap_or(usize::MAX),
        dependencies: 0,
    })?;
    let messages = messages(&whole);
    let ranks = readable(&whole, &messages)?;
    let drawn = |vertex: &Vertex| whole.rank(*vertex) < ranks;
    let messages: Vec<_> = messages.into_iter().filter(|(a, b)| drawn(a) && drawn(b)).collect();
    let lanes = lanes(&whole, ranks, &dense(&whole, ranks, columns(&whole, &messages)));
    out.write_all(render(&whole, &lanes, &messages).as_bytes())?;
    Ok(ranks)
}

/// Returns the number of ranks that can be read in one picture.
fn readable(whole: &Whole<'_>, messages: &[(Vertex, Vertex)]) -> Result<u32, SvgError> {
    let (mut actions, mut lines, mut ranks) = (0, 0, 0);
    let mut received = vec![0; whole.program.num_ranks() as usize];
    for &(send, receive) in messages {
        // A message is drawn if both of its ranks are.
        received[whole.rank(send).max(whole.rank(receive)) as usize] += 1;
    }
    for rank in 0..whole.program.num_ranks() {
        let body = whole.program.body_of(rank);
        // A rank without actions takes a line of the picture too.
        actions += body.len().max(1);
        lines += body.requires.len() + body.irequires.len() + received[rank as usize];
        if actions > SVG_ACTIONS_MAX || lines > SVG_DEPENDENCIES_MAX {
            return match ranks {
                0 => Err(SvgError::TooLarge { actions, dependencies: lines }),
                ranks => Ok(ranks),
            };
        }
        ranks = rank + 1;
    }
    Ok(ranks)
}

/// Renumbers the columns of the first ranks, without the columns that only other ranks use.
fn dense(whole: &Whole<'_>, ranks: u32, columns: Vec<usize>) -> Vec<usize> {
    let drawn: Vec<usize> =
        whole.vertices().filter(|&v| whole.rank(v) < ranks).map(|v| columns[v.index()]).collect();
    let mut used = drawn.clone();
    used.sort_unstable();
    used.dedup();
    drawn.into_iter().map(|column| used.partition_point(|&other| other < column)).collect()
}

fn lanes<'a>(whole: &Whole<'a>, ranks: u32, columns: &[usize]) -> Vec<Drawing<'a>> {
    let count = columns.iter().max().map_or(0, |last| last + 1);
    let program = whole.program;
    let mut y = MARGIN;
    let mut lanes: Vec<Drawing<'a>> = (0..ranks)
        .map(|rank| {
            let of_rank = whole.vertices_of(rank).map(|vertex| columns[vertex.index()]).collect();
            let body = program.body_of(rank);
            let mut lane = Drawing::from_layers(body, Layers::in_columns(body, of_rank, count));
            lane.top = y + LANE_PADDING;
            y = lane.bottom() + LANE_PADDING;
            lane
        })
        .collect();
    let mut x = MARGIN + NAME_WIDTH;
    let bounds: Vec<(f64, f64)> = (0..count)
        .map(|column| {
            let width = lanes.iter().map(|lane| lane.width_of_column(column)).fold(0.0, f64::max);
            let left = x;
            x = left + width + GAP;
            (left, left + width)
        })
        .collect();
    lanes.iter_mut().for_each(|lane| lane.columns.clone_from(&bounds));
    lanes
}

fn render(whole: &Whole<'_>, lanes: &[Drawing<'_>], messages: &[(Vertex, Vertex)]) -> String {
    let right = lanes
        .iter()
        .filter_map(|lane| lane.columns.last())
        .map(|column| column.1)
        .fold(0.0, f64::max);
    let all = whole.program.num_ranks() as usize;
    let caption = match lanes.len() < all {
        true => format!("ranks 0 to {} of {all}, and the messages among them", lanes.len() - 1),
        false => String::new(),
    };
    let width = right.max(MARGIN + NAME_WIDTH + width_of(&caption)) + MARGIN;
    let bottom = lanes.last().map_or(MARGIN, |lane| lane.bottom() + LANE_PADDING);
    let height = bottom + MARGIN + if caption.is_empty() { 0.0 } else { BOX_HEIGHT };
    let mut svg = head(width, height);
    for (rank, lane) in lanes.iter().enumerate() {
        let (top, bottom) = (lane.top - LANE_PADDING, lane.bottom() + LANE_PADDING);
        let fill = if rank % 2 == 0 { "#f4f6f8" } else { "#ffffff" };
        let _ = writeln!(
            svg,
            "<rect x=\"0\" y=\"{top:.1}\" width=\"{width:.0}\" height=\"{:.1}\" fill=\"{fill}\"/>\
             <text class=\"rank\" x=\"{MARGIN}\" y=\"{:.1}\" font-weight=\"bold\" fill=\"#444\">rank {rank}</text>",
            bottom - top,
            (top + bottom) / 2.0 + 4.0
        );
    }
    svg.push_str(
        "<g fill=\"none\" stroke=\"#b5482a\" stroke-width=\"1.4\" marker-end=\"url(#message)\">\n",
    );
    for &(send, receive) in messages {
        let whole_text = |vertex: Vertex| {
            let body = whole.body(vertex);
            format!(
                "rank {}: {}",
                whole.rank(vertex),
                statement(body, whole.action(vertex), Style::Paper2009)
            )
        };
        let title = escaped(&format!("{} \u{2192} {}", whole_text(send), whole_text(receive)));
        let path = message(whole, lanes, send, receive);
        let _ = writeln!(svg, "<path class=\"message\" d=\"{path}\"><title>{title}</title></path>");
    }
    svg.push_str("</g>\n");
    for lane in lanes {
        lane.draw(&mut svg);
    }
    if !caption.is_empty() {
        let y = bottom + MARGIN + 4.0;
        let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y:.1}\" fill=\"#444\">{caption}</text>");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws a message from the edge of the send that faces the receive's lane to the edge of the
/// receive that faces the send's.
fn message(whole: &Whole<'_>, lanes: &[Drawing<'_>], send: Vertex, receive: Vertex) -> String {
    let (from_rank, to_rank) = (whole.rank(send), whole.rank(receive));
    let from = lanes[from_rank as usize].rectangle(whole.id(send));
    let to = lanes[to_rank as usize].rectangle(whole.id(receive));
    let (x1, x2) = (from.x + from.width - CORNER, to.x + CORNER);
    let (y1, y2, pull) = match from_rank.cmp(&to_rank) {
        std::cmp::Ordering::Less => (from.y + from.height, to.y, 1.0),
        std::cmp::Ordering::Greater => (from.y, to.y + to.height, -1.0),
        // A message of a rank to itself runs below the boxes.
        std::cmp::Ordering::Equal => (from.y + from.height, to.y + to.height, 1.0),
    };
    let bend = if from_rank == to_rank { LANE_PADDING } else { (y2 - y1).abs() / 2.0 };
    let (c1, c2) =
        (y1 + pull * bend, if from_rank == to_rank { y2 + bend } else { y2 - pull * bend });
    format!("M{x1:.1},{y1:.1} C{x1:.1},{c1:.1} {x2:.1},{c2:.1} {x2:.1},{y2:.1}")
}
