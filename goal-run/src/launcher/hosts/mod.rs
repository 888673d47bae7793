//! A job on several hosts: each host has a launcher. They find each other, and the leader, which is
//! the launcher of the host of rank 0, decides.
//!
//! ```text
//! every host   find all ranks, send Hello
//! leader       compares settings, sends Start
//! every host   starts its ranks, sends Ready
//! leader       sends Go
//! every host   reports when its ranks finish, fail, die, rest or get a signal
//! leader       decides, sends End
//! every host   sends the memory that its ranks left
//! leader       sends Verdict
//! ```
//!
//! The leader gathers the memory that the ranks of other hosts left in its own segment. So the
//! outcome is computed as for a job on one host.

mod agree;
mod concern;
mod error;
mod follow;
mod gather;
mod lead;
mod left;
mod post;
mod session;
#[cfg(test)]
mod tests;

use super::crew::Place;
use super::error::LaunchError;
use super::options::{Options, Ranks};
use super::run::{equip, repeated, run_ranks};
use crate::hosts::{Key, PORT, Plan, ranges};
use crate::job::Mode;
use crate::network::{Ethertypes, Network};
use crate::outcome::{End, Outcome};
use crate::report::Report;
use crate::rights;
use error::HostsError;
use follow::Told;
use goal_asm::Nisa;
use goal_esp::wire::Mac;
use goal_eth::{DriverKind, probe_xdp};
use lead::{Ending, Leader};
use session::Session;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// The most events that are handled before ranks and signals are checked again. Other hosts may
/// send events without end.
const EVENTS_MAX: usize = 256;

/// The other hosts of a job.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// Name of this host's interface.
    pub interface: String,
    /// The driver of its ranks. Launchers always use packet sockets, as they send few frames.
    pub driver: DriverKind,
    /// The port of launchers.
    pub port: u16,
    /// The key that all hosts of the job have.
    pub key: Key,
    /// Set if all data between ranks is authenticated. It must be the same on all hosts.
    pub authenticates_data: bool,
    /// The distribution of ranks among the hosts.
    pub plan: Plan,
    /// Set if the leader must get the memory of all ranks in any case, as for [`Outcome::dump`].
    pub keeps_memory: bool,
    /// Returns the name under which the user knows a setting, for messages about settings that
    /// differ between hosts. The argument is the name of a field of [`Options`] or of its engine's
    /// options, or `unauthenticated_data`.
    pub name: fn(&'static str) -> &'static str,
    /// Options that were given and that only the leader follows.
    pub leaders: Vec<&'static str>,
}

impl Hosts {
    /// Returns the hosts of a `plan`, reached through an interface, with a `key` that all of them
    /// have. All other fields have their defaults.
    pub fn new(interface: String, key: Key, plan: Plan) -> Self {
        Self {
            interface,
            driver: DriverKind::default(),
            port: PORT,
            key,
            authenticates_data: true,
            plan,
            keeps_memory: false,
            name: |setting| setting,
            leaders: vec![],
        }
    }
}

/// The end of a job on several hosts, as one of them knows it.
#[derive(Debug)]
pub enum Ended {
    /// This host leads. The other hosts wait for [`Others::conclude`].
    Leading(Box<Outcome>, Others),
    /// Another host led the job, and has sent this verdict.
    Told(Verdict),
}

/// The end of a job, as the leader reports it to the other hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The exit status.
    pub status: u8,
    /// The leader's report as a JSON object; `None` if it is not known.
    pub report: Option<String>,
    /// Descriptions of all errors.
    pub errors: Vec<String>,
    /// A description of the ranks of this host.
    pub here: String,
}

/// The other hosts of a job that has ended.
pub struct Others {
    post: post::Post,
    hosts: BTreeSet<Mac>,
}

impl std::fmt::Debug for Others {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.hosts).finish()
    }
}

impl Others {
    /// Returns the signal that a launcher of another host got meanwhile, if any.
    pub fn interrupted(&self) -> Option<usize> {
        while let Some(event) = self.post.event(std::time::Duration::ZERO) {
            if let crate::hosts::Event::Message(
                _,
                crate::hosts::Message::Interrupted { signal },
                _,
            ) = event
            {
                return Some(signal);
            }
        }
        None
    }

    /// Tells the other hosts the outcome and the exit status.
    pub fn conclude(self, status: u8, report: &Report) {
        for &host in &self.hosts {
            let verdict = crate::hosts::Message::Verdict {
                status,
                report: report.to_json(),
                errors: report.errors().to_vec(),
            };
            self.post.send(host, verdict);
        }
    }
}

/// Runs the ranks of a schedule that are on this host, as a part of a job on several hosts.
///
/// # Errors
/// [`LaunchError`] if the ranks can't be started, here or on another host.
pub fn run_on_hosts(
    nisa: &Arc<Nisa>,
    options: &Options,
    hosts: &Hosts,
) -> Result<Ended, LaunchError> {
    if options.progress == Mode::Node {
        return Err(LaunchError::NodeOnHosts);
    }
    if let Ranks::Processes { executable } = &options.ranks {
        rights::refuse_readable(executable)?;
    }
    if options.gives_up_rights {
        rights::give_up_all_but_sockets(hosts.driver)?;
    }
    let mut session = Session::open(nisa, options, hosts)?;
    match session.run() {
        Err(LaunchError::Interrupted(signal)) => {
            session.refuse(&LaunchError::Interrupted(signal));
            let errors = vec![LaunchError::Interrupted(signal).to_string()];
            Ok(Ended::Told(Verdict {
                status: 128 + signal as u8,
                report: None,
                errors,
                here: String::new(),
            }))
        }
        Err(error) => {
            session.refuse(&error);
            Err(error)
        }
        Ok(Some(outcome)) => Ok(Ended::Leading(Box::new(outcome), session.part())),
        Ok(None) => Ok(Ended::Told(session.verdict())),
    }
}

impl Session<'_> {
    /// Runs the job. Returns the outcome if this host leads.
    fn run(&mut self) -> Result<Option<Outcome>, LaunchError> {
        self.find()?;
        let run = self.agree()?;
        let network = Network::new(
            (self.hosts.interface.clone(), self.hosts.driver),
            self.me,
            Ethertypes::default(),
            self.hosts.key.ranks(run),
            self.addresses(),
        )
        .authenticating(self.hosts.authenticates_data);
        if let (DriverKind::Xdp, Err(why)) = (self.hosts.driver, probe_xdp()) {
            (self.options.tell)(&format!("ranks use packet sockets: {why}"));
        }
        let (leads, drivers) = (network.leads(), network.open_drivers()?);
        if !leads && !self.hosts.leaders.is_empty() {
            let (options, leader) = (self.hosts.leaders.join(", "), self.leader());
            (self.options.tell)(&format!(
                "{options}: only host {leader} does this, which has rank 0 and leads; give it there"
            ));
        }
        let (settings, segment) = equip(self.nisa, self.options, Some(network))?;
        let here = self.mine.clone();
        let place = Place {
            nisa: self.nisa,
            options: self.options,
            settings: &settings,
            segment: &segment,
            here: &here,
            since: Instant::now(),
        };
        if leads {
            let mut leader = Leader::new(self, &place)?;
            let ending =
                run_ranks(&place, drivers, |crew| Ok(leader.lead(crew)), Ending::is_complete)?;
            let (end, missing) = leader.gather(ending)?;
            let run = repeated(self.nisa, self.options, true);
            let mut outcome = Outcome::new(end, segment, self.nisa, &settings, run);
            outcome.missing = missing;
            return Ok(Some(outcome));
        }
        let told = run_ranks(
            &place,
            drivers,
            |crew| follow::follow(self, &place, crew),
            Told::is_complete,
        )?;
        match told {
            Told::End { areas, is_complete } => left::tell(self, &place, &areas, is_complete)?,
            Told::Verdict(verdict) => self.decided = Some(verdict),
        }
        Ok(None)
    }
}

/// Describes a host with its ranks.
fn with_ranks(host: Mac, ranks: &[u32]) -> String {
    format!("host {host} with rank{} {}", if ranks.len() == 1 { "" } else { "s" }, ranges(ranks))
}

/// Returns the end of a job that has lost a host.
fn lost(who: &str, why: &str) -> End {
    End::HostLost(format!("{who} is lost: {why}"))
}
