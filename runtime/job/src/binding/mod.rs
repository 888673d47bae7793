//! Binds the ranks of this host to processors.
//!
//! By default each rank is bound to a core of its own, as by `mpirun`, if there are enough cores.
//! The system would otherwise move ranks, and may leave two ranks that poll on one processor for
//! many milliseconds while another processor is idle.
//!
//! Jobs that run at the same time know nothing of each other. Two jobs must not bind their ranks to
//! the same cores while other cores are idle. So a launcher claims each processor to which it binds
//! a rank, until its job ends (`processors.rs`). It skips processors that another launcher has
//! claimed. If too few processors are left, the job runs without binding.
//!
//! If there are more ranks than processors, the ranks are not bound, and the system moves them. On
//! an idle machine, ranks that are bound to the processors in turn would be faster. But another
//! program may compute on one of the processors. It would then take most of that processor from
//! ranks that yield, while another processor is idle.

mod processors;
mod request;
#[cfg(test)]
mod tests;

pub use processors::{is_crowded, num_processors};
pub use request::{Bind, BindError, list};

use crate::limits::PROCESSORS_MAX;
use processors::{Claim, allowed, by_core, claim_cores, exist, machine, try_claim};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};
use std::io;

/// The most ranks on one processor with which a waiting rank yields for longer before it sleeps
/// ([`Placement::is_sparse`]).
const SHARERS_MAX: usize = 2;

/// The processors of this host's ranks. They are claimed as long as this value exists.
#[derive(Debug)]
pub struct Binding {
    placement: Result<Placement, Unbound>,
    _claims: Vec<Claim>,
}

/// The reason why ranks are not bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unbound {
    /// The user has requested that ranks are not bound.
    #[error("as requested")]
    Requested,
    /// Another launcher, which started the ranks' processes, has bound them already.
    #[error("their starter has bound them to {processors} processors")]
    Starter {
        /// The number of different processors to which the ranks are bound.
        processors: u32,
    },
    /// There are fewer processors than ranks.
    #[error("they share processors")]
    Shared,
    /// Other jobs have claimed processors that this job needs.
    #[error("other jobs hold {held} of {allowed} processors")]
    Held {
        /// The number of processors that other jobs have claimed.
        held: usize,
        /// The number of processors that this process may use.
        allowed: usize,
    },
    /// The system does not state its processors, or does not allow to claim them.
    #[error("{0}")]
    System(String),
}

/// The reason why ranks can't be bound as requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The user's list names a processor that the machine does not have.
    #[error("there is no processor {processor}: this machine has {}", list(.exist))]
    Missing {
        /// The processor.
        processor: u32,
        /// The processors that exist.
        exist: Vec<u32>,
    },
    /// The user's list names a processor that this process may not use.
    #[error(
        "this process may not use processor {processor}, only {} (taskset and control groups restrict it)",
        list(.allowed)
    )]
    Forbidden {
        /// The processor.
        processor: u32,
        /// The processors that this process may use.
        allowed: Vec<u32>,
    },
    /// The user's list has fewer entries than this host has ranks.
    #[error("{ranks} ranks are on this host, and the list gives processors for {listed}")]
    TooShort {
        /// The number of ranks on this host.
        ranks: u32,
        /// The length of the list.
        listed: usize,
    },
    /// The system does not allow to bind processes to processors.
    #[error("the system does not bind processes to processors: {0}")]
    System(String),
}

impl Binding {
    /// Chooses and claims processors for the `ranks` ranks of this host.
    ///
    /// # Errors
    /// [`BindingError`] if ranks can't be bound to the processors of a [`Bind::List`].
    /// [`Bind::Core`] causes no error, but leaves ranks unbound.
    pub fn new(bind: &Bind, ranks: u32) -> Result<Self, BindingError> {
        let list = match bind {
            Bind::None => return Ok(Self::unbound(Unbound::Requested)),
            Bind::Bound { processors } => {
                let why = Unbound::Starter { processors: *processors };
                return Ok(Self::unbound(why));
            }
            Bind::Core => return Ok(Self::to_cores(ranks)),
            Bind::List(list) => list,
        };
        let allowed = usable().map_err(|error| BindingError::System(error.to_string()))?;
        let Some(chosen) = list.get(..ranks as usize) else {
            return Err(BindingError::TooShort { ranks, listed: list.len() });
        };
        if let Some(&processor) = chosen.iter().find(|processor| !allowed.contains(processor)) {
            let exist = exist(machine());
            return Err(match exist {
                Some(exist) if !exist.contains(&processor) => {
                    BindingError::Missing { processor, exist }
                }
                _ => BindingError::Forbidden { processor, allowed },
            });
        }
        let mut distinct = chosen.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        // The claims are for other launchers. Ranks are bound to the listed processors even if
        // another job has claimed one of them.
        let claims =
            distinct.iter().filter_map(|&processor| try_claim(machine(), processor).ok()?);
        let claims = claims.collect();
        Ok(Self { placement: Ok(Placement::new(chosen.to_vec(), &allowed)), _claims: claims })
    }

    fn to_cores(ranks: u32) -> Self {
        if is_crowded(ranks) {
            return Self::unbound(Unbound::Shared);
        }
        let claimed = usable().and_then(|allowed| {
            let claims = claim_cores(machine(), &allowed, ranks as usize)?;
            Ok((allowed, claims))
        });
        match claimed {
            Err(error) => Self::unbound(Unbound::System(error.to_string())),
            Ok((allowed, claims)) if claims.len() < ranks as usize => {
                Self::unbound(Unbound::Held {
                    held: allowed.len() - claims.len(),
                    allowed: allowed.len(),
                })
            }
            Ok((allowed, claims)) => {
                let ranks = claims.iter().map(Claim::processor).collect();
                Self { placement: Ok(Placement::new(ranks, &allowed)), _claims: claims }
            }
        }
    }

    fn unbound(why: Unbound) -> Self {
        Self { placement: Err(why), _claims: vec![] }
    }

    /// Returns the processor of each rank of this host, in ascending order of the ranks.
    ///
    /// # Errors
    /// The reason why ranks are not bound.
    pub fn processors(&self) -> Result<&[u32], &Unbound> {
        self.placement.as_ref().map(|placement| placement.ranks.as_slice())
    }

    /// Returns true if some of this host's `ranks` ranks share a processor.
    pub fn is_crowded(&self, ranks: u32) -> bool {
        match &self.placement {
            Ok(placement) => placement.is_crowded(),
            Err(Unbound::Starter { processors }) => ranks > *processors,
            Err(_) => is_crowded(ranks),
        }
    }

    /// Returns the placement, which ranks must know; `None` if ranks are not bound.
    pub fn placement(&self) -> Option<Placement> {
        self.placement.clone().ok()
    }
}

/// Returns the processors that this process may use, for a program that binds its ranks itself. One
/// processor of each core comes first, then the second ones. Claims of other jobs are ignored.
///
/// # Errors
/// The system does not allow to bind processes to processors.
pub fn cores() -> io::Result<Vec<u32>> {
    Ok(by_core(machine(), &usable()?))
}

/// Returns the processors that this process may use, in ascending order. Returns an error if the
/// process can't be bound.
fn usable() -> io::Result<Vec<u32>> {
    let allowed = allowed()?;
    // This call changes nothing. It fails if the system does not allow to bind processes.
    sched_setaffinity(None, &set(&allowed))?;
    Ok(allowed)
}

/// The processors of the ranks of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The processor of each rank of this host, in ascending order of the ranks.
    ranks: Vec<u32>,
    /// The processors that may run the ranks' progress threads.
    threads: Vec<u32>,
}

impl Placement {
    /// Creates a placement. Progress threads get the processors without a rank, or all processors
    /// if each has a rank. A thread that is bound to its rank's processor alone would run only when
    /// the system interrupts the rank's computation. That is so even while other ranks sleep.
    fn new(ranks: Vec<u32>, allowed: &[u32]) -> Self {
        let free = allowed.iter().copied().filter(|processor| !ranks.contains(processor));
        let mut threads: Vec<u32> = free.collect();
        if threads.is_empty() {
            threads = allowed.to_vec();
        }
        Self { ranks, threads }
    }

    /// Returns the placement of ranks that are bound to these processors, in their order.
    ///
    /// # Errors
    /// The system's error.
    pub fn from_ranks(processors: &[u32]) -> io::Result<Self> {
        Ok(Self::new(processors.to_vec(), &allowed()?))
    }

    /// Returns true if this placement is valid for `ranks` ranks.
    pub fn fits(&self, ranks: u32) -> bool {
        let exists = |&processor: &u32| processor < PROCESSORS_MAX;
        self.ranks.len() == ranks as usize && self.ranks.iter().chain(&self.threads).all(exists)
    }

    /// Returns true if some processor has more than one rank.
    pub fn is_crowded(&self) -> bool {
        self.has_more_than(1)
    }

    /// Returns true if no processor has more than `SHARERS_MAX` ranks.
    pub fn is_sparse(&self) -> bool {
        !self.has_more_than(SHARERS_MAX)
    }

    /// Returns true if some processor has more than `sharers` ranks.
    fn has_more_than(&self, sharers: usize) -> bool {
        let mut ranks = self.ranks.clone();
        ranks.sort_unstable();
        ranks.windows(sharers + 1).any(|run| run[0] == run[sharers])
    }

    /// Binds the calling thread to the processor of the rank at `index` among those of this host.
    /// Returns the processor.
    ///
    /// # Errors
    /// The system's error.
    pub fn bind_rank(&self, index: usize) -> io::Result<u32> {
        let no_place = || io::Error::other("the rank has no place among those of this host");
        let processor = *self.ranks.get(index).ok_or_else(no_place)?;
        let bound = sched_setaffinity(None, &set(&[processor]));
        bound.map_err(|error| {
            io::Error::other(format!("the rank can't be bound to processor {processor}: {error}"))
        })?;
        Ok(processor)
    }

    /// Binds the calling thread, a progress thread, to the processors for such threads.
    pub fn bind_thread(&self) {
        // If this fails, the thread stays bound to the processor of its rank.
        let _ = sched_setaffinity(None, &set(&self.threads));
    }
}

fn set(processors: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    processors.iter().for_each(|&processor| set.set(processor as usize));
    set
}
