//! The passes, one module each, and the table of them.

mod coalesce;
mod contention;
mod dce;
mod fuse;
mod join;
mod levels;
mod prune;
mod segment;
mod topological;
mod window;

pub(crate) use join::join;
use prune::prune_pass;
pub use topological::topological;
use window::window_pass;
pub use window::{WindowError, Windowed, window};

use crate::flow::OUTPUTS;
use crate::limits::INDEGREE_MAX;
use crate::pass::{Level, Parameter, Pass, Rewrite, Values};

/// All passes. A pipeline of a level runs its passes in this order.
pub static PASSES: &[Pass] = &[
    Pass {
        name: "dce",
        description: "removes copies that can be read at their source, and local operations without a use",
        level: Some(Level::O1),
        parameters: &[OUTPUTS],
        rewrite: Rewrite::Program(dce::dce),
    },
    Pass {
        name: "fuse",
        description: "combines a receive or a send with the local operation beside it into one action",
        level: Some(Level::O1),
        parameters: &[OUTPUTS],
        rewrite: Rewrite::Program(fuse::fuse),
    },
    Pass {
        name: "coalesce",
        description: "combines small messages between two ranks that become ready together",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "size",
            description: "the most bytes of a combined message; by default, the bytes that the machine sends in the time of an empty message",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(coalesce::coalesce),
    },
    Pass {
        name: "contention",
        description: "orders messages that could be under way together in rounds, so that a rank receives k at once",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "k",
            description: "the receives that a rank may have open at once",
            values: Values::Number { min: 1, default: Some(1) },
        }],
        rewrite: Rewrite::Program(contention::contention),
    },
    Pass {
        name: "segment",
        description: "splits large messages that are forwarded into segments, at both ends, so that they flow in a pipeline",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "size",
            description: "the bytes of a segment, rounded to a multiple of 8; by default, computed from the machine",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(segment::segment),
    },
    Pass {
        name: "prune",
        description: "removes dependencies that others imply",
        level: Some(Level::O1),
        parameters: &[],
        rewrite: Rewrite::Body(prune_pass),
    },
    Pass {
        name: "join",
        description: "replaces more than 65535 dependencies of an action by a tree of joins",
        level: Some(Level::O0),
        parameters: &[Parameter {
            name: "most",
            description: "the most dependencies of an action, up to the format's limit",
            values: Values::Number { min: 2, default: Some(INDEGREE_MAX as u64) },
        }],
        rewrite: Rewrite::Body(|body, context| {
            let most = context.arguments.number("most").unwrap_or(u64::MAX);
            join(body, most.min(INDEGREE_MAX.into()) as usize)
        }),
    },
    Pass {
        name: "topological",
        description: "orders actions after those that they wait for, with actions on long paths to the end first",
        level: Some(Level::O1),
        parameters: &[],
        rewrite: Rewrite::Program(|program, context| Ok(topological(program, context.machine))),
    },
    Pass {
        name: "window",
        description: "inserts dummies between groups of actions, so that an executor needs room for one group only",
        level: None,
        parameters: &[Parameter {
            name: "size",
            description: "the most actions between two dummies",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(window_pass),
    },
];
