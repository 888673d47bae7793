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
        description: "copies that can be read at their source, and local operations without a use, go",
        level: Some(Level::O1),
        parameters: &[OUTPUTS],
        rewrite: Rewrite::Program(dce::dce),
    },
    Pass {
        name: "fuse",
        description: "a receive or a send and the local operation beside it become one action",
        level: Some(Level::O1),
        parameters: &[OUTPUTS],
        rewrite: Rewrite::Program(fuse::fuse),
    },
    Pass {
        name: "coalesce",
        description: "small messages between two ranks that become ready together become one",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "size",
            description: "most bytes of the one; by default what the machine sends in the time of an empty message",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(coalesce::coalesce),
    },
    Pass {
        name: "contention",
        description: "messages that could be under way together go in rounds, so that ranks receive k at once",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "k",
            description: "receives that a rank may have open at once",
            values: Values::Number { min: 1, default: Some(1) },
        }],
        rewrite: Rewrite::Program(contention::contention),
    },
    Pass {
        name: "segment",
        description: "large messages that are forwarded become pipelines of segments, at both ends together",
        level: Some(Level::O2),
        parameters: &[Parameter {
            name: "size",
            description: "bytes of a segment, taken to a multiple of 8; from the machine where nobody says",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(segment::segment),
    },
    Pass {
        name: "prune",
        description: "dependencies that others imply are dropped",
        level: Some(Level::O1),
        parameters: &[],
        rewrite: Rewrite::Body(prune_pass),
    },
    Pass {
        name: "join",
        description: "an action that waits for more than 65535 others waits for a tree of joins instead",
        level: Some(Level::O0),
        parameters: &[Parameter {
            name: "most",
            description: "dependencies that an action may have, at most what the format counts to",
            values: Values::Number { min: 2, default: Some(INDEGREE_MAX as u64) },
        }],
        rewrite: Rewrite::Body(|body, context| {
            let most = context.arguments.number("most").unwrap_or(u64::MAX);
            join(body, most.min(INDEGREE_MAX.into()) as usize)
        }),
    },
    Pass {
        name: "topological",
        description: "actions come after all that they wait for, those on long paths to the end first",
        level: Some(Level::O1),
        parameters: &[],
        rewrite: Rewrite::Program(|program, context| Ok(topological(program, context.machine))),
    },
    Pass {
        name: "window",
        description: "dummies between groups of actions, so that an executor needs room for one group only",
        level: None,
        parameters: &[Parameter {
            name: "size",
            description: "most actions between two dummies",
            values: Values::Number { min: 1, default: None },
        }],
        rewrite: Rewrite::Program(window_pass),
    },
];
