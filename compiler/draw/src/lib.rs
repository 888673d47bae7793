//! Time-space diagrams: what each rank does from left to right, and the messages between ranks.
//!
//! A source makes a [`Diagram`], and a renderer writes it. [`by_steps`] takes a program without
//! times. [`Recorder`] watches a simulation. [`by_trace`] reads the trace of a run. The
//! functions [`svg`], [`png`](fn@png) and [`text`](fn@text) write pictures. Other renderers read a
//! [`Diagram`] itself, which serde can write, or take the geometry of [`Scene`].
//!
//! A diagram that is too large to read is summed up: groups of ranks, and the shares of their time.
//! Labels, names of files and traces come from anywhere. Each renderer escapes their texts, and
//! each picture bounds them.
//!
//! # Layers
//! `limits` and `diagram` know nothing else. `label`, `slots`, `unit` and `density` serve the
//! sources `steps`, `sim` and `trace`. `scene` places the parts of a diagram, `svg` and `png` write
//! them. `text` reads the diagram alone.
//!
//! ```
//! use goal_draw::{Subject, by_steps, svg, Scene, Style, Options};
//! use goal_lang::{ParseOptions, SourceMap};
//! use std::sync::Arc;
//!
//! let mut sources = SourceMap::default();
//! let text = "rank 0 { send 8b to 1; } rank 1 { recv 8b from 0; }";
//! sources.add("pair.goal", Arc::new(text.as_bytes().to_vec()));
//! let program = goal_lang::parse(&sources, &ParseOptions::default()).program.expect("valid");
//! let subject = Subject { name: "pair.goal", program: &program, sources: Some(&sources) };
//! let diagram = by_steps(&subject, &Default::default(), &Options::default())?;
//! assert!(svg(&Scene::new(&diagram), Style::Screen).contains("send 8 B to 1"));
//! # Ok::<(), goal_draw::DrawError>(())
//! ```

mod density;
mod diagram;
mod error;
mod label;
mod limits;
mod options;
mod png;
mod scene;
mod sim;
mod slots;
mod steps;
mod style;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod unit;

pub use diagram::{
    Axis, Body, Dependency, Detail, Diagram, Finding, Group, Kind, Lane, Mark, Message, Outlier,
    Shape, State, Summary,
};
pub use error::DrawError;
pub use label::Subject;
pub use options::{Options, RankSet};
pub use png::png;
pub use scene::{Item, Scene};
pub use sim::Recorder;
pub use steps::by_steps;
pub use style::Style;
pub use svg::svg;
pub use text::text;
pub use trace::by_trace;
