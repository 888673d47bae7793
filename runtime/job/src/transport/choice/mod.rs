//! Selects the transports of a job. For each distance it selects the transport with the highest
//! priority that reaches this distance, is allowed and is available. This is how pscom selects its
//! plugins.

mod request;
#[cfg(test)]
mod tests;

use request::List;
pub use request::{Request, RequestError, priority_variable};

use super::plugin::{Name, TransportKind};
use crate::limits;
use goal_engine::transport::{Distance, ZeroCopy};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;
use std::io;

/// The transports that were selected for a job. They are the same in all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteTable {
    /// The transport of messages to ranks at each [`Distance`].
    pub carriers: [TransportKind; Distance::ALL.len()],
    /// True if payloads outside the segment are copied from their sender's memory by `cma`.
    pub cma: bool,
}

/// The reason why a transport is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportRefusal(Reason);

/// The kinds of reasons why a transport is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reason {
    /// The user's list leaves out the transport.
    Unlisted(List),
    /// The priority of the transport is 0.
    Off,
    /// The transport is not available here, for this reason.
    Unavailable(String),
}

/// A transport with what decides on its selection.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The transport.
    pub name: Name,
    /// The priority of the transport.
    pub priority: u32,
    /// True if the environment sets the priority.
    pub is_set: bool,
    /// The reason why the transport is not used; `None` if it may be selected.
    pub refusal: Option<TransportRefusal>,
}

/// All transports, in descending order of their priorities.
#[derive(Debug, Clone)]
pub struct Choice {
    standings: Vec<Standing>,
}

/// The error that no transport reaches a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// The distance of the peer.
    distance: Distance,
    /// The transports that could reach the peer, with the reasons why they are not used.
    refused: Vec<(Name, TransportRefusal)>,
}

impl Choice {
    /// Returns all transports in the order that follows from `request`. Checks which of them are
    /// available here.
    pub fn new(request: &Request) -> Self {
        Self::among(request, |name| {
            (name.plugin().probe)().map_err(|error| {
                let text = error.to_string();
                match error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
                    Some(cause) => text.replace(&cause.to_string(), &limits::named(cause)),
                    None => text,
                }
            })
        })
    }

    fn among<E: fmt::Display>(request: &Request, probe: impl Fn(Name) -> Result<(), E>) -> Self {
        let mut standings = Name::ALL.map(|name| {
            let set = request.priorities.iter().rfind(|(of, _)| *of == name);
            let priority = set.map_or(name.plugin().priority, |&(_, priority)| priority);
            let reason = match &request.list {
                Some(list) if !list.allows(name) => Some(Reason::Unlisted(list.clone())),
                _ if priority == 0 => Some(Reason::Off),
                _ => probe(name).err().map(|why| Reason::Unavailable(why.to_string())),
            };
            let refusal = reason.map(TransportRefusal);
            Standing { name, priority, is_set: set.is_some(), refusal }
        });
        standings.sort_by_key(|standing| {
            (Reverse(standing.priority), standing.name.plugin().latency_ns)
        });
        Self { standings: standings.into() }
    }

    /// Returns this choice without the transport `name`, which the job can't use for the reason
    /// `why`.
    pub fn without(&self, name: Name, why: &str) -> Self {
        let mut choice = self.clone();
        for standing in choice.standings.iter_mut().filter(|standing| standing.name == name) {
            let unavailable = || TransportRefusal(Reason::Unavailable(why.to_owned()));
            standing.refusal.get_or_insert_with(unavailable);
        }
        choice
    }

    /// Returns all transports, in descending order of their priorities.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// Returns true if messages between hosts travel by MPI in a job that `mpirun` started. They do
    /// so if MPI may be used and comes before TCP.
    pub fn prefers_mpi(&self) -> bool {
        self.usable(Distance::Network).find(|&name| name != Name::Esp) == Some(Name::Mpi)
    }

    /// Returns the transport of messages to ranks at this distance; `None` if there is none.
    pub fn messages(&self, distance: Distance) -> Option<Name> {
        self.carrier(distance).map(|(name, _)| name)
    }

    fn carrier(&self, distance: Distance) -> Option<(Name, TransportKind)> {
        self.usable(distance).find_map(|name| Some((name, name.carrier()?)))
    }

    /// Returns the transport by which the system copies payloads that can't be read in place;
    /// `None` if there is none.
    pub fn copies(&self, distance: Distance) -> Option<Name> {
        self.usable(distance).find(|name| name.plugin().zero_copy == ZeroCopy::Copied)
    }

    /// Returns the transports of messages in a job whose ranks are at most `farthest` apart.
    pub fn names(&self, farthest: Distance) -> Vec<Name> {
        let mut names: Vec<Name> =
            up_to(farthest).filter_map(|distance| self.messages(distance)).collect();
        names.dedup();
        names
    }

    /// Returns the transports to use in a job whose ranks are at most `farthest` apart.
    ///
    /// # Errors
    /// [`Unreachable`] if a rank can't reach another one or itself.
    pub fn paths(&self, farthest: Distance) -> Result<RouteTable, Unreachable> {
        let carrier = |distance| {
            let unreachable = || Unreachable { distance, refused: self.refused(distance) };
            self.carrier(distance).map(|(_, carrier)| carrier).ok_or_else(unreachable)
        };
        let mut carriers = [carrier(Distance::Own)?; Distance::ALL.len()];
        for distance in up_to(farthest) {
            carriers[distance as usize] = carrier(distance)?;
        }
        Ok(RouteTable { carriers, cma: self.copies(Distance::Node).is_some() })
    }

    /// Returns the transports that may be used and reach a distance, in the order of this choice.
    fn usable(&self, distance: Distance) -> impl Iterator<Item = Name> {
        let free = self.standings.iter().filter(|standing| standing.refusal.is_none());
        free.map(|standing| standing.name).filter(move |name| name.plugin().reaches(distance))
    }

    /// Returns the transports that could carry messages to ranks at this distance but are not used,
    /// with the reasons.
    pub fn refused(&self, distance: Distance) -> Vec<(Name, TransportRefusal)> {
        let carries = |name: Name| name.carrier().is_some() && name.plugin().reaches(distance);
        let carrying = self.standings.iter().filter(|standing| carries(standing.name));
        carrying.filter_map(|standing| Some((standing.name, standing.refusal.clone()?))).collect()
    }
}

/// All transports that are available here, with their own priorities.
impl Default for Choice {
    fn default() -> Self {
        Self::new(&Request::default())
    }
}

/// Returns the distances up to `farthest`.
fn up_to(farthest: Distance) -> impl Iterator<Item = Distance> {
    Distance::ALL.into_iter().filter(move |&distance| distance <= farthest)
}

impl fmt::Display for TransportRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Unlisted(list) => write!(f, "left out by {list}"),
            Reason::Off => f.write_str("turned off by its priority of 0"),
            Reason::Unavailable(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { distance, refused } = self;
        f.write_str(match distance {
            Distance::Own => "a rank can't reach itself: ",
            Distance::Node => "a rank can't reach another one on its host: ",
            Distance::Network => "a rank can't reach those on other hosts: ",
        })?;
        for (i, (name, refusal)) in refused.iter().enumerate() {
            let comma = if i > 0 { "; " } else { "" };
            write!(f, "{comma}{name} is {refusal}")?;
            match &refusal.0 {
                Reason::Unlisted(list) => write!(f, " ({})", list.with(*name))?,
                Reason::Off => write!(f, " (unset {})", priority_variable(*name))?,
                Reason::Unavailable(_) => {}
            }
        }
        Ok(())
    }
}

impl std::error::Error for Unreachable {}
