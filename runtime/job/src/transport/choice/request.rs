//! Reads the transports that users ask for: a list, and priorities.

use crate::transport::plugin::Name;
use goal_engine::transport::Distance;
use std::fmt;
use thiserror::Error;

/// The environment variable that holds a list of transports.
const LIST: &str = "GOAL_TRANSPORT";
/// The prefix of the environment variables that set priorities. The name of the transport follows
/// it.
const PRIORITY: &str = "GOAL_TRANSPORT_PRIORITY_";

/// The place where the user gave a list of transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// An option of the command line, which overrides the environment.
    Option(&'static str),
    /// The environment.
    Environment,
}

/// A list of transports, in the form of UCX's `UCX_TLS`. It has the transports to use, or after a
/// `^` the transports not to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    origin: Origin,
    text: String,
    is_negated: bool,
    names: Vec<Name>,
}

/// A request of the user for transports.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The list of the transports that may be used; `None` if all may be used.
    pub(super) list: Option<List>,
    /// The priorities that the environment sets.
    pub(super) priorities: Vec<(Name, u32)>,
}

/// The error that a request for transports is wrong.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(transparent)]
pub struct RequestError(#[from] Fault);

/// The reason why a request is wrong.
#[derive(Debug, Error, PartialEq, Eq)]
enum Fault {
    /// A list names a transport that does not exist.
    #[error(
        "{origin}={text}: there is no transport `{name}`; there are {}, and auto for all of them",
        known()
    )]
    Unknown {
        /// The place where the user gave the list.
        origin: Origin,
        /// The text of the list.
        text: String,
        /// The unknown name.
        name: String,
    },
    /// A variable sets the priority of a transport that does not exist.
    #[error("{variable}: there is no such transport; there are {}", Name::ALL.map(priority_variable).join(", "))]
    UnknownPriority {
        /// The name of the variable.
        variable: String,
    },
    /// A priority is not a number.
    #[error(
        "{variable}={value}: give a whole number; the highest is chosen first, 0 turns the transport off"
    )]
    Priority {
        /// The name of the variable.
        variable: String,
        /// The value of the variable.
        value: String,
    },
}

impl Request {
    /// Reads the request from the command line and the environment. `option` is the name of the
    /// command line's option and its list, which replaces the list of the environment.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn new(
        option: Option<(&'static str, &str)>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, RequestError> {
        let mut request = Self::default();
        for (variable, value) in environment {
            if variable == LIST && option.is_none() {
                request.list = List::parse(Origin::Environment, &value)?;
            } else if let Some(name) = variable.strip_prefix(PRIORITY) {
                match (Name::parse(&name.to_lowercase()), value.trim().parse()) {
                    (None, _) => return Err(Fault::UnknownPriority { variable }.into()),
                    (_, Err(_)) => return Err(Fault::Priority { variable, value }.into()),
                    (Some(name), Ok(priority)) => request.priorities.push((name, priority)),
                }
            }
        }
        if let Some((name, text)) = option {
            request.list = List::parse(Origin::Option(name), text)?;
        }
        Ok(request)
    }
}

impl List {
    /// Reads a list. Returns `None` for `auto` and for an empty text, which allow every transport.
    fn parse(origin: Origin, text: &str) -> Result<Option<Self>, Fault> {
        let text = text.trim();
        if matches!(text, "" | "auto") {
            return Ok(None);
        }
        let (is_negated, names) = match text.strip_prefix('^') {
            Some(names) => (true, names),
            None => (false, text),
        };
        let names = names.split(',').map(str::trim).map(|name| {
            let unknown =
                || Fault::Unknown { origin, text: text.to_owned(), name: name.to_owned() };
            Name::parse(name).ok_or_else(unknown)
        });
        let names = names.collect::<Result<_, _>>()?;
        Ok(Some(Self { origin, text: text.to_owned(), is_negated, names }))
    }

    /// Returns true if the list allows a transport. If a list has only transports to other hosts,
    /// it allows all transports within a host.
    pub(super) fn allows(&self, name: Name) -> bool {
        let leads_away = |name: Name| name.plugin().nearest == Distance::Network;
        match self.is_negated {
            true => !self.names.contains(&name),
            false => {
                self.names.contains(&name)
                    || self.names.iter().all(|&n| leads_away(n)) && !leads_away(name)
            }
        }
    }

    /// Returns a text that states how to change the list so that it allows a transport.
    pub(super) fn with(&self, name: Name) -> String {
        match (self.is_negated, self.origin) {
            (true, origin) => format!("take {name} out of {origin}={}", self.text),
            (false, origin) => format!("{origin}={},{name} puts it back", self.text),
        }
    }
}

/// Writes the list as the user gave it, with its option or variable.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.origin, self.text)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Option(name) => name,
            Origin::Environment => LIST,
        })
    }
}

/// Returns the name of the environment variable with a transport's priority.
pub fn priority_variable(name: Name) -> String {
    format!("{PRIORITY}{}", name.plugin().name.to_uppercase())
}

fn known() -> String {
    Name::ALL.map(|name| name.plugin().name).join(", ")
}
