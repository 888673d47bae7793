//! Does the work of a launcher that does not lead, while the ranks run.

use super::ended::Verdict;
use super::error::HostsError;
use super::post::EVENTS_MAX;
use super::session::{self, Session};
use crate::hosts::{Area, LauncherMessage, LinkEvent};
use crate::launcher::error::LaunchError;
use crate::launcher::forwarded::Forwarded;
use crate::launcher::losses::{self, QuiescentState};
use crate::launcher::pace::Pace;
use crate::launcher::rank_set::Place;
use crate::launcher::rank_set::RankSet;
use crate::launcher::shutdown::{Drain, request_late_reports, request_reports};
use crate::launcher::supervise::{Observation, Quiet, Standing, Supervisor};
use goal_eth::now_ns;
use std::collections::BTreeSet;
use std::time::Duration;

/// The reason why a launcher that follows must end its ranks.
pub(super) enum Told {
    /// The leader ends the job.
    End { is_complete: bool, areas: Vec<Area> },
    /// The leader refused the job or was lost.
    Verdict(Verdict),
}

impl Told {
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Told::End { is_complete: true, .. })
    }
}

/// Reports the state of the ranks to the leader, until the leader ends the job.
///
/// # Errors
/// [`LaunchError::Rank`] if a rank of this host could not start. The caller must tell the leader.
pub(super) fn follow(
    session: &mut Session<'_>,
    place: &Place<'_>,
    rank_set: &mut dyn RankSet,
) -> Result<Told, LaunchError> {
    // The session drops the events of all hosts except the leader.
    let leader = session.leader();
    let mut supervisor = Supervisor::new(place);
    let mut quiet = Quiet::new(place);
    let start_barrier = place.segment.start_barrier();
    let here = place.here.len() as u32;
    let (mut is_ready, mut have_finished, mut has_told) = (false, false, false);
    let (mut stopped, pace) = (vec![], Pace::new());
    let are_programs = place.settings.are_programs();
    let (mut is_at_end, mut has_left, mut tail) = (false, false, Drain::default());
    // True after a loss, once no rank of this host uses messages and the leader was told so.
    let mut has_regrouped = false;
    let mut told_unreachable = BTreeSet::new();
    loop {
        let mut limit = if is_ready { pace.tick(place.segment) } else { Duration::from_millis(1) };
        let mut probe = None;
        for _ in 0..EVENTS_MAX {
            let Some(event) = session.event(limit) else { break };
            limit = Duration::ZERO;
            let verdict = |status, error| Verdict {
                status,
                report: None,
                errors: vec![error],
                here: String::new(),
            };
            let why = match event {
                LinkEvent::Message(_, LauncherMessage::Go, _) if is_ready => {
                    start_barrier.pass(here + 1, now_ns);
                    continue;
                }
                LinkEvent::Message(_, LauncherMessage::GoOn, _) => {
                    has_left = true;
                    continue;
                }
                LinkEvent::Message(_, LauncherMessage::Forward { signal }, _)
                    if Forwarded::has(signal) =>
                {
                    supervisor.forward(signal, rank_set);
                    continue;
                }
                LinkEvent::Message(_, LauncherMessage::Lost(ranks), _) => {
                    lose(place, rank_set, &ranks)?;
                    continue;
                }
                LinkEvent::Message(_, LauncherMessage::Mend(sits_out), _) if has_regrouped => {
                    losses::mend(place, &sits_out)?;
                    has_regrouped = false;
                    told_unreachable.clear();
                    continue;
                }
                LinkEvent::Message(
                    _,
                    LauncherMessage::End { is_complete, is_stuck, is_late, areas },
                    _,
                ) => {
                    match are_programs {
                        true if is_stuck => request_reports(place.segment, place.here),
                        true if is_late => request_late_reports(place.segment, place.here),
                        _ => {}
                    }
                    return Ok(Told::End { is_complete, areas });
                }
                LinkEvent::Probe { round, .. } => {
                    probe = Some(round);
                    continue;
                }
                LinkEvent::Message(_, LauncherMessage::Refused(why), _) => {
                    let error = LaunchError::from(HostsError::Ended(why)).to_string();
                    return Ok(Told::Verdict(verdict(session::REFUSED, error)));
                }
                LinkEvent::Lost(_, why) => why,
                LinkEvent::Finished(_) => "its launcher ended".to_owned(),
                _ => continue,
            };
            let error = format!("{} is lost: {why}", session.named(leader));
            return Ok(Told::Verdict(verdict(session::DIED, error)));
        }
        if !is_ready && start_barrier.ready() == here {
            is_ready = true;
            session.post.send(leader, LauncherMessage::Ready);
        }
        for suspicion in losses::suspicions(place) {
            if told_unreachable.insert(suspicion) {
                let (by, rank) = suspicion;
                session.post.send(leader, LauncherMessage::Unreachable { by, rank });
            }
        }
        if start_barrier.is_broken()
            && !has_regrouped
            && let Some(QuiescentState { regroups, sits_out }) = losses::stand(place)
        {
            has_regrouped = true;
            session.post.send(leader, LauncherMessage::Regroups { regroups, sits_out });
        }
        if are_programs && !is_at_end && supervisor.have_finished() {
            is_at_end = true;
            session.post.send(leader, LauncherMessage::AtEnd);
        }
        if has_left {
            tail.release(place.segment, place.here);
        }
        let news = match supervisor.look(!have_finished, rank_set).filter(|_| !has_told) {
            Some(Observation::Failed(_)) => Some(LauncherMessage::Failed),
            Some(Observation::Exited(rank, how, status)) => {
                Some(LauncherMessage::Died { rank, how, status })
            }
            Some(Observation::Lost(rank, how)) => {
                // The leader decides when the other hosts learn of the loss.
                session.post.send(leader, LauncherMessage::Died { rank, how, status: None });
                None
            }
            Some(Observation::NotStarted(why)) => return Err(LaunchError::Rank(why)),
            Some(Observation::Interrupted(signal)) => Some(LauncherMessage::Interrupted { signal }),
            Some(Observation::Finished) => Some(LauncherMessage::Finished),
            None => None,
        };
        if let Some(message) = news {
            // After any of these messages except `Finished` the leader ends the job. So this
            // launcher reports no more of them.
            match message {
                LauncherMessage::Finished => have_finished = true,
                _ => has_told = true,
            }
            session.post.send(leader, message);
        }
        for signal in supervisor.take_forwarded() {
            session.post.send(leader, LauncherMessage::Forward { signal });
        }
        if supervisor.stopped() != stopped {
            stopped = supervisor.stopped().to_vec();
            session.post.send(leader, LauncherMessage::Stopped(stopped.clone()));
        }
        match quiet.stands() {
            Some(Standing::For(lines)) => {
                session.post.send(leader, LauncherMessage::Standstill(lines))
            }
            Some(Standing::Over) => session.post.send(leader, LauncherMessage::Standstill(vec![])),
            None => {}
        }
        if let Some(round) = probe {
            session.post.reply(leader, round, place.here[0], quiet.reply());
        }
    }
}

/// Marks these ranks as lost, so that the job goes on without them. Kills those that are on this
/// host and still run.
///
/// # Errors
/// [`LaunchError::Rank`] if a rank can't be ended. The caller must tell the leader.
pub(super) fn lose(
    place: &Place<'_>,
    rank_set: &mut dyn RankSet,
    ranks: &[(u32, String)],
) -> Result<(), LaunchError> {
    let num_ranks = place.segment.num_ranks();
    for (rank, how) in ranks.iter().filter(|&&(rank, _)| rank < num_ranks) {
        let is_here = place.here.binary_search(rank).is_ok();
        if is_here && !place.segment.status(*rank).is_lost() && !rank_set.bury(*rank) {
            return Err(LaunchError::Rank(format!("rank {rank} is lost and can't be ended")));
        }
        losses::note(place, *rank, how);
    }
    Ok(())
}
