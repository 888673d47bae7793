//! Runs this host's part of a job.

use super::ended::{Ended, Verdict};
use super::follow::{self, Told};
use super::kernel::Engine;
use super::lead::{Ending, Leader};
use super::left;
use super::options::Hosts;
use super::session::Session;
use crate::launcher::error::LaunchError;
use crate::launcher::options::{Options, Ranks};
use crate::launcher::rank_set::Place;
use crate::launcher::run::{equip, repeated, run_ranks};
use crate::outcome::Outcome;
use goal_asm::Nisa;
use goal_eth::{DriverKind, PortGroup, probe_xdp};
use goal_job::Mode;
use goal_job::network::{Ethernet, Network, OverTcp, Wire};
use goal_job::offload::{Offload, RemoteEndpoint};
use goal_job::remote_sockets::RemoteSockets;
use goal_job::rights;
use goal_job::transport::Name;
use goal_tcp::SILENCE_S;
use std::sync::Arc;
use std::time::Instant;

/// Runs the ranks of a job that are on this host. Other hosts run the others.
///
/// # Errors
/// [`LaunchError`] if the ranks can't be started, here or on another host.
pub fn run_on_hosts(
    nisa: &Arc<Nisa>,
    options: &Options,
    hosts: &Hosts,
) -> Result<Ended, LaunchError> {
    if options.spec.progress == Mode::Node {
        return Err(LaunchError::NodeOnHosts);
    }
    match &options.ranks {
        Ranks::Processes { executable } => rights::refuse_readable(executable)?,
        Ranks::Program(_) if rights::has_rights_of_file() => {
            return Err(LaunchError::ProgramSockets);
        }
        Ranks::Program(_) | Ranks::Threads | Ranks::JoinedRank { .. } => {}
    }
    if options.gives_up_rights {
        let offloads = options.spec.offload != Offload::Off;
        match (options.ranks.are_programs(), hosts.ethernet()) {
            (true, hosts) => {
                let driver = hosts.map(|hosts| hosts.driver);
                rights::give_up_for_programs(driver, offloads && driver.is_some(), false)?;
            }
            (false, Some(hosts)) => {
                rights::give_up_all_but_sockets(hosts.driver, offloads)?;
            }
            (false, None) => rights::give_up_all_but_files()?,
        }
    }
    // Leaves out transports of networks on which the hosts of this job do not meet.
    let transports = match hosts.ethernet() {
        Some(_) => options.transports.without(Name::Tcp, "the hosts of this job are on Ethernet"),
        None => options.transports.without(Name::Esp, "the hosts of this job are connected by TCP"),
    };
    let transports = match hosts.fabric.as_deref() {
        Some(name) if name == Name::Mpi.plugin().name => transports,
        _ => transports.without(Name::Mpi, "the ranks of this job have not initialized MPI"),
    };
    let options = &Options { transports, ..options.clone() };
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
    /// Runs the job. Returns its outcome if this host leads, and `None` otherwise.
    fn run(&mut self) -> Result<Option<Outcome>, LaunchError> {
        self.find()?;
        let run = self.agree()?;
        // The engine must outlive the ranks.
        let engine = self.offload(run)?;
        let has_sockets = engine.as_ref().is_none_or(Engine::is_of_programs);
        let wire = match self.hosts.ethernet() {
            None => {
                let tcp = OverTcp {
                    silence_s: self.hosts.fault_timeout_s().unwrap_or(SILENCE_S),
                    encrypts: self.hosts.encrypts(),
                };
                match self.hosts.fabric.clone() {
                    None => Wire::Tcp(tcp),
                    Some(name) => Wire::Other(name, tcp),
                }
            }
            Some(hosts) => {
                if let (DriverKind::Xdp, Err(why), true) = (hosts.driver, probe_xdp(), has_sockets)
                {
                    (self.options.tell)(&format!("ranks use packet sockets: {why}"));
                }
                Wire::Ethernet(Ethernet {
                    authenticates_data: hosts.authenticates_data,
                    bursts: (self.options.spec.initial_burst, self.options.spec.burst),
                    ..Ethernet::new(hosts.interface.clone(), hosts.driver)
                })
            }
        };
        let network = Network::new(wire, self.me, self.hosts.key.ranks(run), self.locations())
            .opening(self.options.ranks.are_programs())
            .keeping(self.options.spec.unexpected_limit);
        let leads = network.leads();
        // The group must outlive the ranks.
        let (remote_sockets, _group) = match &network.wire {
            _ if !has_sockets => (vec![], None),
            Wire::Tcp(_) | Wire::Other(..) => (self.remote_sockets(), None),
            Wire::Ethernet(ethernet) => {
                let drivers = network.open_drivers(ethernet)?;
                // With the group, the kernel finds the driver of a frame in a time that does not
                // depend on the number of drivers.
                let group = PortGroup::of(&drivers, ethernet.ethertypes.esp);
                (drivers.into_iter().map(RemoteSockets::Ethernet).collect(), Some(group))
            }
        };
        let endpoints = match &engine {
            Some(engine) => engine.endpoints(remote_sockets)?,
            None => remote_sockets.into_iter().map(RemoteEndpoint::Sockets).collect(),
        };
        if !leads && !self.hosts.leaders.is_empty() {
            let (options, leader) = (self.hosts.leaders.join(", "), self.leader());
            (self.options.tell)(&format!(
                "{options}: only host {leader} does this, which has rank 0 and leads; give it there"
            ));
        }
        let in_kernel = engine.as_ref().map(|engine| engine.in_kernel.clone());
        let (mut settings, segment, binding) =
            equip(self.nisa, self.options, Some(network), in_kernel)?;
        settings.not_in_kernel = self.not_in_kernel.take();
        settings.crowded |= self.is_crowded;
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
            let lead = || {
                run_ranks(
                    &place,
                    endpoints,
                    |rank_set| Ok(leader.lead(rank_set)),
                    Ending::is_complete,
                )
            };
            let ending = match &engine {
                Some(engine) => engine.watched(&place, lead)?,
                None => lead()?,
            };
            let is_complete = ending.is_complete();
            engine.iter().filter(|_| !is_complete).for_each(|engine| engine.note_waiting(&place));
            let (end, missing) = leader.gather(ending)?;
            let mut run = repeated(self.nisa.num_ranks(), self.options, true, &binding);
            // TCP stays last, as it is the fallback for messages of other transports.
            let last = run.transports.len().saturating_sub(1);
            let new = self.hosts.fabric.iter().find(|&name| !run.transports.contains(name));
            new.into_iter().for_each(|name| run.transports.insert(last, name.clone()));
            let mut outcome = Outcome::new(end, segment, self.nisa, &settings, run);
            outcome.missing = missing;
            return Ok(Some(outcome));
        }
        let follow = || {
            run_ranks(
                &place,
                endpoints,
                |rank_set| follow::follow(self, &place, rank_set),
                Told::is_complete,
            )
        };
        let told = match &engine {
            Some(engine) => engine.watched(&place, follow)?,
            None => follow()?,
        };
        match told {
            Told::End { areas, is_complete } => {
                if let (Some(engine), false) = (&engine, is_complete) {
                    engine.note_waiting(&place);
                }
                left::tell(self, &place, &areas, is_complete)?;
            }
            Told::Verdict(verdict) => self.decided = Some(verdict),
        }
        Ok(None)
    }
}
