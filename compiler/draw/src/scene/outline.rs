//! The outlines of shapes. A form repeats what a colour says: a send points to the right, a receive
//! has a notch, an operation round corners, a computation square ones.

use crate::diagram::{Kind, Shape, State};

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rectangle {
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(super) fn middle(&self) -> f64 {
        self.y + self.height / 2.0
    }

    /// Returns the width of a send's point or of a receive's notch.
    pub(super) fn point(&self) -> f64 {
        (self.height * 0.4).min(self.width * 0.28).min(8.0)
    }
}

/// Returns the outline of a kind of shapes in a rectangle.
pub(super) fn outline(kind: Kind, rectangle: Rectangle) -> String {
    let Rectangle { x, y, width, height } = rectangle;
    let (right, bottom, middle, point) =
        (rectangle.right(), rectangle.bottom(), rectangle.middle(), rectangle.point());
    match kind {
        Kind::Send => {
            let neck = right - point;
            format!("M{x:.1},{y:.1}H{neck:.1}L{right:.1},{middle:.1}L{neck:.1},{bottom:.1}H{x:.1}z")
        }
        Kind::Receive => {
            let notch = x + point;
            format!("M{x:.1},{y:.1}H{right:.1}V{bottom:.1}H{x:.1}L{notch:.1},{middle:.1}z")
        }
        Kind::Operation => {
            let r = (height * 0.4).min(width / 2.0);
            let (w, h) = (width - 2.0 * r, height - 2.0 * r);
            format!(
                "M{:.1},{y:.1}h{w:.1}a{r:.1},{r:.1} 0 0 1 {r:.1},{r:.1}v{h:.1}\
                 a{r:.1},{r:.1} 0 0 1 -{r:.1},{r:.1}h-{w:.1}\
                 a{r:.1},{r:.1} 0 0 1 -{r:.1},-{r:.1}v-{h:.1}a{r:.1},{r:.1} 0 0 1 {r:.1},-{r:.1}z",
                x + r
            )
        }
        Kind::Nop => {
            let side = (width / 2.0).min(height / 2.0).min(7.0);
            let centre = x + width / 2.0;
            format!(
                "M{:.1},{middle:.1}L{centre:.1},{:.1}L{:.1},{middle:.1}L{centre:.1},{:.1}z",
                centre - side,
                middle - side,
                centre + side,
                middle + side
            )
        }
        Kind::Calculation | Kind::Waiting => {
            format!("M{x:.1},{y:.1}h{width:.1}v{height:.1}h-{width:.1}z")
        }
    }
}

/// The edge of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// None: it would hide a narrow shape.
    None,
    Thin,
    /// On the longest chain.
    Thick,
}

/// Returns the class of a shape.
pub(super) fn class(shape: &Shape, edge: Edge) -> &'static str {
    match (shape.state, shape.kind, edge) {
        (State::Blocked, ..) => "b",
        (State::Unmatched, ..) => "x",
        (State::Unstarted, ..) => "u",
        (_, Kind::Send, Edge::None) => "sa",
        (_, Kind::Send, Edge::Thin) => "s",
        (_, Kind::Send, Edge::Thick) => "s c",
        (_, Kind::Receive, Edge::None) => "ra",
        (_, Kind::Receive, Edge::Thin) => "r",
        (_, Kind::Receive, Edge::Thick) => "r c",
        (_, Kind::Operation, Edge::None) => "oa",
        (_, Kind::Operation, Edge::Thin) => "o",
        (_, Kind::Operation, Edge::Thick) => "o c",
        (_, Kind::Calculation, Edge::None) => "ka",
        (_, Kind::Calculation, Edge::Thin) => "k",
        (_, Kind::Calculation, Edge::Thick) => "k c",
        (_, Kind::Nop, Edge::Thick) => "n c",
        (_, Kind::Nop, _) => "n",
        (_, Kind::Waiting, _) => "w",
    }
}
