//! The parts of a picture.

/// A picture as paths and texts. Lengths have the unit of SVG, and y grows downwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
    /// The title of the picture.
    pub title: String,
    /// More about it.
    pub description: String,
    /// The parts, the lowest one first.
    pub items: Vec<Item>,
}

/// A part of a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A line or an area.
    Path {
        /// The names of its look.
        class: &'static str,
        /// The outline in SVG's language of paths.
        path: String,
        /// The text that a viewer shows under the pointer.
        tip: Option<String>,
    },
    /// A line of text.
    Text {
        /// The names of its look.
        class: &'static str,
        /// The point at which it is anchored.
        x: f64,
        /// The height of the line on which it stands.
        y: f64,
        /// The size of the letters.
        size: f64,
        /// The part of the text that lies at the point.
        anchor: Anchor,
        /// The text.
        text: String,
    },
}

/// The part of a text that lies at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}
