//! The geometry of a picture: where its parts lie, without the language in which they are written.

mod detail;
mod frame;
mod item;
mod marks;
mod outline;
mod places;
mod summary;

use crate::diagram::{Body, Diagram};
use frame::Frame;
pub(crate) use item::Anchor;
pub use item::{Item, Scene};

impl Scene {
    /// Places the parts of a diagram.
    pub fn new(diagram: &Diagram) -> Self {
        let mut frame = Frame::new(diagram, places::wanted_width(diagram));
        match &diagram.body {
            Body::Detail(detail) => detail::draw(&mut frame, diagram, detail),
            Body::Summary(summary) => summary::draw(&mut frame, diagram, summary),
        }
        frame.finish(diagram)
    }
}
