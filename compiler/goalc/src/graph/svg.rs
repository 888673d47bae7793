//! The graph as SVG.

use super::layers::Layers;
use super::order::order;
use super::place::{BOX_PITCH, place};
use super::{colour, escaped_xml as escaped, text};
use crate::limits::{SVG_ACTIONS_MAX, SVG_DEPENDENCIES_MAX};
use goal_lang::{ActionId, Body, Style, statement};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The reason why a graph is not drawn.
#[derive(Debug, thiserror::Error)]
pub enum SvgError {
    /// The picture would be too large to read.
    #[error(
        "a picture of {actions} actions and {dependencies} dependencies: at most {SVG_ACTIONS_MAX} and \
         {SVG_DEPENDENCIES_MAX} are drawn as SVG; write dot, and let graphviz lay it out"
    )]
    TooLarge {
        /// Actions of the rank.
        actions: usize,
        /// Dependencies of both kinds.
        dependencies: usize,
    },
    /// The picture could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

pub(super) const MARGIN: f64 = 16.0;
pub(super) const BOX_HEIGHT: f64 = 24.0;
pub(super) const GAP: f64 = 56.0;
const CHARACTER_WIDTH: f64 = 7.3;
const PADDING: f64 = 10.0;

/// Returns the beginning of a picture: its size, the arrows and a white ground.
pub(super) fn head(width: f64, height: f64) -> String {
    let arrow = |name: &str, colour: &str| {
        format!(
            "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"{colour}\"/></marker>"
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"monospace\" font-size=\"12\">\n\
         <defs>{}{}</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        arrow("arrow", "#555"),
        arrow("message", "#b5482a")
    )
}

/// Returns the width of a text.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER_WIDTH
}

/// Draws the graph of a rank that runs `body`.
///
/// # Errors
/// Returns an error if the graph has too many actions or dependencies to read, or if `out` fails.
pub fn svg(body: &Body, out: &mut dyn Write) -> Result<(), SvgError> {
    let dependencies = body.requires.len() + body.irequires.len();
    if body.len() > SVG_ACTIONS_MAX || dependencies > SVG_DEPENDENCIES_MAX {
        return Err(SvgError::TooLarge { actions: body.len(), dependencies });
    }
    out.write_all(Drawing::new(body).render().as_bytes())?;
    Ok(())
}

/// A drawing of a rank's graph: its boxes and lines with their places.
pub(super) struct Drawing<'a> {
    body: &'a Body,
    layers: Layers,
    texts: Vec<String>,
    /// The height of the middle of each vertex, counted from the highest one.
    heights: Vec<f64>,
    /// Left and right end of each column.
    pub(super) columns: Vec<(f64, f64)>,
    /// The upper end of the highest box.
    pub(super) top: f64,
}

/// A box, by its left upper corner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rectangle {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(body: &'a Body) -> Self {
        let mut drawing = Self::from_layers(body, Layers::new(body));
        let mut x = MARGIN;
        drawing.columns = (0..drawing.layers.columns.len())
            .map(|column| {
                let left = x;
                let right = left + drawing.width_of_column(column);
                x = right + GAP;
                (left, right)
            })
            .collect();
        drawing
    }

    /// Returns the boxes in their columns. The ends of the columns are not known yet.
    pub(super) fn from_layers(body: &'a Body, mut layers: Layers) -> Self {
        order(&mut layers);
        let heights = place(&layers, body);
        let texts = body.ids().map(|id| text(body, id)).collect();
        Self { body, layers, texts, heights, columns: Vec::new(), top: MARGIN }
    }

    /// Returns the width of a column's widest box, or 0 if the column has no box.
    pub(super) fn width_of_column(&self, column: usize) -> f64 {
        let texts = self.layers.columns[column].iter().filter_map(|&vertex| self.texts.get(vertex));
        texts.map(|text| width_of(text) + 2.0 * PADDING).fold(0.0, f64::max)
    }

    /// Returns the lower end of the lowest box.
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.heights.iter().copied().fold(0.0, f64::max) + BOX_HEIGHT
    }

    fn middle(&self, vertex: usize) -> f64 {
        self.top + BOX_HEIGHT / 2.0 + self.heights[vertex]
    }

    pub(super) fn rectangle(&self, id: ActionId) -> Rectangle {
        let (left, right) = self.columns[self.layers.column_of[id.index()]];
        let y = self.middle(id.index()) - BOX_HEIGHT / 2.0;
        Rectangle { x: left, y, width: right - left, height: BOX_HEIGHT }
    }

    fn render(&self) -> String {
        let width = self.columns.last().map_or(0.0, |column| column.1) + MARGIN;
        let mut svg = head(width, self.bottom() + MARGIN);
        self.draw(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    /// Draws the dependencies, and the boxes over them.
    pub(super) fn draw(&self, svg: &mut String) {
        svg.push_str("<g fill=\"none\" stroke=\"#555\" marker-end=\"url(#arrow)\">\n");
        for (i, path) in self.layers.paths.iter().enumerate() {
            let dashes = if i < self.layers.requires { "" } else { " stroke-dasharray=\"5,3\"" };
            let _ = writeln!(svg, "<path d=\"{}\"{dashes}/>", self.line(path));
        }
        svg.push_str("</g>\n<g stroke=\"#777\">\n");
        for id in self.body.ids() {
            let Rectangle { x, y, width, height } = self.rectangle(id);
            let action = self.body.action(id);
            let fill = colour(action.kind());
            let whole = escaped(&statement(self.body, action, Style::Paper2009));
            let _ = writeln!(
                svg,
                "<g><title>{whole}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
                 rx=\"5\" fill=\"{fill}\"/><text x=\"{:.1}\" y=\"{:.1}\" stroke=\"none\" fill=\"black\">{}</text></g>",
                x + PADDING,
                y + BOX_HEIGHT / 2.0 + 4.0,
                escaped(&self.texts[id.index()])
            );
        }
        svg.push_str("</g>\n");
    }

    /// Returns the line of a dependency as an SVG path, from the right side of the first box to the
    /// left side of the last. The line is bent between columns and level across them.
    fn line(&self, path: &[usize]) -> String {
        let (first, last) = (path[0], path[path.len() - 1]);
        let mut from = (self.columns[self.layers.column_of[first]].1, self.middle(first));
        let mut line = format!("M{:.1},{:.1}", from.0, from.1);
        for &vertex in &path[1..] {
            let (left, right) = self.columns[self.layers.column_of[vertex]];
            let to = (left, self.middle(vertex));
            let middle = (from.0 + to.0) / 2.0;
            let _ = write!(
                line,
                " C{middle:.1},{:.1} {middle:.1},{:.1} {:.1},{:.1}",
                from.1, to.1, to.0, to.1
            );
            if vertex != last {
                let _ = write!(line, " H{right:.1}");
            }
            from = (right, to.1);
        }
        line
    }
}

const _: () = assert!(BOX_HEIGHT < BOX_PITCH);
