//! What users ask for: a list of transports, priorities of their own.

use crate::transport::plugin::Name;
use goal_engine::transport::Distance;
use std::fmt;
use thiserror::Error;

/// The environment variable that holds a list of transports.
const LIST: &str = "GOAL_TRANSPORT";
/// What the environment variables of priorities begin with; the transport's name follows.
const PRIORITY: &str = "GOAL_TRANSPORT_PRIORITY_";

/// Who gave a list of transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The command line, which is stronger.
    Option,
    /// The environment.
    Environment,
}

/// A list of transports, as UCX's `UCX_TLS`: those to use, or with a leading `^` those not to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    origin: Origin,
    text: String,
    is_negated: bool,
    names: Vec<Name>,
}

/// What is asked for of transports.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which ones may be used; all where there is no list.
    pub(super) list: Option<List>,
    /// Priorities of the environment.
    pub(super) priorities: Vec<(Name, u32)>,
}

/// What is wrong with what is asked for.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RequestError {
    /// A list names a transport that there is not.
    #[error(
        "{origin}={text}: there is no transport `{name}`; there are {}, and auto for all of them",
        known()
    )]
    Unknown {
        /// Who gave the list.
        origin: Origin,
        /// The list.
        text: String,
        /// The name.
        name: String,
    },
    /// A priority for a transport that there is not.
    #[error("{variable}: there is no such transport; there are {}", Name::ALL.map(priority_variable).join(", "))]
    UnknownPriority {
        /// The variable.
        variable: String,
    },
    /// A priority that is not a number.
    #[error(
        "{variable}={value}: give a whole number; the highest is chosen first, 0 turns the transport off"
    )]
    Priority {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
}

impl Request {
    /// What a command line and the environment ask for: `option` is the list of the command line,
    /// which replaces that of the environment.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(
        option: Option<&str>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, RequestError> {
        let mut request = Self::default();
        for (variable, value) in environment {
            if variable == LIST && option.is_none() {
                request.list = List::parse(Origin::Environment, &value)?;
            } else if let Some(name) = variable.strip_prefix(PRIORITY) {
                match (Name::parse(&name.to_lowercase()), value.trim().parse()) {
                    (None, _) => return Err(RequestError::UnknownPriority { variable }),
                    (_, Err(_)) => return Err(RequestError::Priority { variable, value }),
                    (Some(name), Ok(priority)) => request.priorities.push((name, priority)),
                }
            }
        }
        if let Some(text) = option {
            request.list = List::parse(Origin::Option, text)?;
        }
        Ok(request)
    }
}

impl List {
    /// `None` for `auto` and for nothing: every transport may be used.
    fn parse(origin: Origin, text: &str) -> Result<Option<Self>, RequestError> {
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
                || RequestError::Unknown { origin, text: text.to_owned(), name: name.to_owned() };
            Name::parse(name).ok_or_else(unknown)
        });
        let names = names.collect::<Result<_, _>>()?;
        Ok(Some(Self { origin, text: text.to_owned(), is_negated, names }))
    }

    /// Whether a transport may be used. Who names only such as lead to other hosts means these:
    /// within a host all stay.
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

    /// How to have a transport that the list leaves out.
    pub(super) fn with(&self, name: Name) -> String {
        match (self.is_negated, self.origin) {
            (true, origin) => format!("take {name} out of {origin}={}", self.text),
            (false, origin) => format!("{origin}={},{name} puts it back", self.text),
        }
    }
}

/// As users give it.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.origin, self.text)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Option => "--transport",
            Origin::Environment => LIST,
        })
    }
}

/// The environment variable with a transport's priority.
pub fn priority_variable(name: Name) -> String {
    format!("{PRIORITY}{}", name.plugin().name.to_uppercase())
}

fn known() -> String {
    Name::ALL.map(|name| name.plugin().name).join(", ")
}
