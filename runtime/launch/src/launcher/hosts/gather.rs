//! Gathers the memory that the ranks of all hosts left. The leader does this at the end.

use super::error::HostsError;
use super::lead::{Ending, Leader};
use super::left::{self, Areas};
use crate::hosts::ranges;
use crate::hosts::{LauncherMessage, LinkEvent};
use crate::launcher::error::LaunchError;
use crate::launcher::options::Stage;
use crate::launcher::pace::TICK;
use crate::launcher::rank_set::Place;
use crate::launcher::signals::attend;
use crate::monitor::Pending;
use crate::outcome::End;
use goal_job::trace;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time between two displays of the progress.
const SHOW_TICK: Duration = Duration::from_millis(250);
/// The longest time for which the leader gathers memory after the job was interrupted or its time
/// was up. It also limits this time after the job got stuck or failed, once the time is up.
const GATHER_LIMIT: Duration = Duration::from_secs(5);

/// The end of gathering the memory of ranks.
enum Gathered {
    /// All hosts that are not lost have sent their ranks' memory.
    All,
    /// A host was lost meanwhile. The value is the end of a job that lost the first such host.
    Lost(End),
    /// A launcher got a signal.
    Interrupted(usize),
    /// It took too long. The end of the job determines if its own time, [`GATHER_LIMIT`] or both
    /// must have passed.
    Late,
}

impl Leader<'_, '_> {
    /// Gathers the memory that the ranks of all hosts left, after the ranks of this host have
    /// ended. Returns how the job ended, and a list of the ranks whose memory has not arrived.
    ///
    /// # Errors
    /// A host has refused the job. The caller must tell the other hosts.
    pub(super) fn gather(mut self, ending: Ending) -> Result<(End, String), LaunchError> {
        let gathered = match &ending {
            Ending::Refused(why) => return Err(HostsError::Ended(why.clone()).into()),
            ending => self.collect(ending),
        };
        let Place { nisa, segment, .. } = *self.place;
        let observed = self.place.observed();
        let known: Vec<u32> = (0..nisa.num_ranks()).filter(|&rank| self.is_known(rank)).collect();
        let missing = match gathered {
            Gathered::Interrupted(_) | Gathered::Late
                if known.len() < nisa.num_ranks() as usize =>
            {
                let missing: Vec<u32> =
                    (0..nisa.num_ranks()).filter(|&rank| !self.is_known(rank)).collect();
                ranges(&missing)
            }
            _ => String::new(),
        };
        let stopped = || self.stopped.values().flatten().copied().collect();
        let are_programs = self.place.settings.are_programs();
        let pending = |all_rest| match missing.is_empty() {
            _ if are_programs && all_rest => Pending::of_stuck_programs(segment, &known),
            _ if are_programs => Pending::of_running_programs(segment, &known, stopped(), || {}),
            true => Pending::of_job(&observed, all_rest, stopped()),
            false => Pending::of_some(&observed, &known, stopped()),
        };
        let end = match (ending, gathered) {
            (_, Gathered::Interrupted(signal)) | (Ending::Interrupted(signal), _) => {
                End::Interrupted(signal)
            }
            (Ending::Lost(end), _) | (Ending::Complete, Gathered::Lost(end)) => end,
            (Ending::TimedOut, _) | (Ending::Complete, Gathered::Late) => {
                End::TimedOut(pending(false))
            }
            (Ending::Complete, Gathered::All) => End::Complete,
            (Ending::Failed, _) => End::Failed(
                (0..nisa.num_ranks()).filter_map(|rank| segment.failure_of_failed(rank)).collect(),
            ),
            (Ending::Stuck, _) => End::Stuck(pending(true)),
            (Ending::Refused(why), _) => return Err(HostsError::Ended(why).into()),
            (Ending::Died(rank, how, status), _) => {
                let pending = match are_programs {
                    true => Pending::of_ended_program(),
                    false => Pending::of_rank(&observed, rank),
                };
                End::Died { rank, how, status, pending }
            }
        };
        Ok((end, missing))
    }

    /// Returns true if the memory that a rank left has arrived, with its status.
    fn is_known(&self, rank: u32) -> bool {
        let host = self.session.locations()[rank as usize].host;
        host == self.session.me || self.told.contains_key(&host)
    }

    /// Tells all hosts to end the job. Does nothing if a host has refused the job, since then all
    /// hosts are told the reason.
    pub(super) fn tell_end(&self, ending: &Ending) {
        if matches!(ending, Ending::Refused(_)) {
            return;
        }
        let settings = self.place.settings;
        let is_complete = ending.is_complete();
        let areas = Areas {
            memory: self.session.hosts.keeps_memory || settings.record,
            matches: settings.record && is_complete,
            instance: matches!(ending, Ending::Stuck | Ending::Died(..) | Ending::TimedOut),
            trace: settings.trace_events > 0,
        };
        let is_stuck = matches!(ending, Ending::Stuck);
        let is_late = matches!(ending, Ending::TimedOut);
        self.tell_all(&LauncherMessage::End {
            is_complete,
            is_stuck,
            is_late,
            areas: areas.list(),
        });
    }

    /// Gathers the memory of the ranks of all hosts, until everything has arrived, a launcher gets
    /// a signal or the time is up.
    fn collect(&mut self, ending: &Ending) -> Gathered {
        let Place { segment, options, .. } = *self.place;
        let mut lost_then = None;
        let (since, mut bytes_so_far, mut shown) = (Instant::now(), 0, Instant::now());
        while self.others.iter().any(|host| !self.told.contains_key(host)) {
            let is_late = match ending {
                Ending::Complete => self.supervisor.is_late(),
                Ending::Interrupted(_) => since.elapsed() >= GATHER_LIMIT,
                _ => self.supervisor.is_late() && since.elapsed() >= GATHER_LIMIT,
            };
            if is_late {
                return Gathered::Late;
            }
            if let Some(signal) = attend(options, true) {
                return Gathered::Interrupted(signal);
            }
            if shown.elapsed() >= SHOW_TICK {
                shown = Instant::now();
                (options.show)(Stage::Gathering { bytes: bytes_so_far });
            }
            match self.session.event(TICK) {
                Some(LinkEvent::Message(
                    host,
                    LauncherMessage::Left { rank, area, offset },
                    bytes,
                )) => {
                    bytes_so_far += bytes.len() as u64;
                    let is_its = self.session.ranks_of(host).contains(&rank);
                    if !is_its || !left::keep(segment, rank, area, offset, &bytes) {
                        lost_then
                            .get_or_insert(self.lost(host, "it told what no rank can have left"));
                    }
                }
                Some(LinkEvent::Message(host, LauncherMessage::Told { opened_ns }, _)) => {
                    self.told.insert(host, opened_ns);
                }
                Some(LinkEvent::Message(_, LauncherMessage::Interrupted { signal }, _)) => {
                    return Gathered::Interrupted(signal);
                }
                Some(LinkEvent::Lost(host, why)) => {
                    lost_then.get_or_insert(self.lost(host, &why));
                }
                Some(LinkEvent::Finished(host)) => {
                    lost_then.get_or_insert(self.lost(host, "its launcher ended"));
                }
                _ => {}
            }
        }
        // Each host measures time by its own clock. So times of other hosts are counted from the
        // start of their ranks.
        let own_ns = segment.start_barrier().opened_ns.load(Ordering::SeqCst);
        for (&host, &opened_ns) in &self.told {
            for rank in self.session.ranks_of(host) {
                let ended_ns = &segment.status(rank).ended_ns;
                let took_ns = ended_ns.load(Ordering::SeqCst).saturating_sub(opened_ns);
                ended_ns.store(own_ns.saturating_add(took_ns), Ordering::SeqCst);
                trace::shift(segment, rank, own_ns.wrapping_sub(opened_ns));
            }
        }
        match lost_then {
            Some(Ending::Lost(end)) => Gathered::Lost(end),
            _ => Gathered::All,
        }
    }
}
