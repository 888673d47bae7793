//! The names of transports, the choice among them, and their parameters.

mod choice;
mod parameters;
mod plugin;

pub use choice::{
    Choice, Paths, Refusal, Request, RequestError, Standing, Unreachable, priority_variable,
};
pub use parameters::{Found, ParameterError, Parameters, Tuned, TunedError};
pub use plugin::{Carrier, Name};
