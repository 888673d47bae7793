//! Names the transports, selects those of a job, and reads their parameters.

mod choice;
mod parameters;
mod plugin;

pub use choice::{
    Choice, Request, RequestError, RouteTable, Standing, TransportRefusal, Unreachable,
    priority_variable,
};
pub use parameters::{Found, ParameterError, Tuned, TunedError};
pub use plugin::{Name, TransportKind};
