//! Lets a job go on without ranks that are lost.
//!
//! One launcher alone decides which ranks are lost and when the others go on, so that all ranks see
//! the same. In a job on several hosts it is the leader. It breaks the job: every schedule ends
//! early. Each rank that notices sets its recovery state: it waits for the others, or it has come
//! to its end. When all have, none uses messages any more. Each launcher then empties the mailboxes
//! and rings of its host, since a lost rank may have left something half done there. Then the next
//! generation begins.
//!
//! Threat: a lost rank that is still alive could write to memory of the others later, or send them
//! messages. So its processes are killed and waited for first. If that is not possible, the job
//! ends. If the whole host is lost, its connections are closed with the generation. A rank of the
//! next generation refuses connections that were begun before, since each generation has a key of
//! its own. All these keys come from the job's secret, so a process there can make them. Such a
//! process belongs to the user, who could have told it the secret.
#![allow(unsafe_code)] // empties mailboxes that no rank uses

use super::error::LaunchError;
use super::options::Options;
use super::rank_set::Place;
use goal_job::Mode;
use goal_job::network::{Network, Wire};
use goal_shm::{RecoveryState, Segment};

/// The quiescent state of a host after a loss: none of its ranks that are left uses messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuiescentState {
    /// True if some of them wait for the next generation.
    pub(super) regroups: bool,
    /// The ranks that have come to their end.
    pub(super) sits_out: Vec<u32>,
}

/// Refuses options with which no job survives the loss of a rank.
///
/// # Errors
/// [`LaunchError::CannotSurvive`].
pub(super) fn refuse(options: &Options, network: Option<&Network>) -> Result<(), LaunchError> {
    let why = match (options.spec.progress, network.map(|network| &network.wire)) {
        (_, Some(Wire::Ethernet(_))) => "its hosts are on Ethernet, and not connected by TCP",
        (_, Some(Wire::Other(..))) => "another launcher has started its ranks",
        _ if !options.ranks.are_programs() => "a schedule needs all of its ranks",
        (Mode::Node, _) => "ranks that act for each other (--progress node) are lost together",
        (Mode::Caller | Mode::Thread, Some(Wire::Tcp(_)) | None) => return Ok(()),
    };
    Err(LaunchError::CannotSurvive(why))
}

/// Returns true if a rank may be lost without the end of the job: all have attached, and others are
/// left here, or may be on other hosts.
pub(super) fn is_survived(place: &Place<'_>, rank: u32) -> bool {
    let (start_barrier, segment) = (place.segment.start_barrier(), place.segment);
    let is_left = |&other: &u32| other != rank && !segment.status(other).is_lost();
    place.settings.spec.survives
        && (start_barrier.is_open() || start_barrier.is_broken())
        && (0..segment.num_ranks()).any(|other| is_left(&other))
}

/// Notes the loss of a rank, whose processes are gone, and breaks the job so that the ranks of this
/// host learn of it.
///
/// The loss of a rank that has no part in this generation breaks nothing. All launchers agree on
/// the ranks that have a part, as they mend the job with the same list.
pub(super) fn note(place: &Place<'_>, rank: u32, how: &str) {
    let segment = place.segment;
    let (start_barrier, status) = (segment.start_barrier(), segment.status(rank));
    if status.is_lost() {
        return;
    }
    segment.record_failure(rank, &format!("rank {rank} {how}"));
    let had_part = !status.is_missing_in(start_barrier.generation());
    status.lose(start_barrier.generation());
    if had_part {
        start_barrier.break_up();
    }
}

/// Returns the text on the loss of a rank for the user.
pub(super) fn text(rank: u32, how: &str) -> String {
    format!("rank {rank} {how}; the others go on without it")
}

/// Wakes the ranks of a broken job on one host, so that they notice, and lets them go on when all
/// of them wait for that.
///
/// # Errors
/// The system can't empty the mailboxes.
pub(super) fn tend(place: &Place<'_>) -> Result<(), LaunchError> {
    if !place.segment.start_barrier().is_broken() {
        return Ok(());
    }
    match stand(place) {
        Some(QuiescentState { regroups: true, sits_out }) => mend(place, &sits_out),
        _ => Ok(()),
    }
}

/// Returns the quiescent state of the ranks of this host that are left. If some still take part in
/// a broken job, wakes them and returns `None`.
pub(super) fn stand(place: &Place<'_>) -> Option<QuiescentState> {
    let mut stand = QuiescentState { regroups: false, sits_out: vec![] };
    for rank in left(place) {
        match place.segment.status(rank).recovery_state() {
            RecoveryState::TakesPart => {
                for rank in left(place) {
                    place.segment.mailbox(rank).wake();
                }
                return None;
            }
            RecoveryState::Regroups => stand.regroups = true,
            RecoveryState::SitsOut => stand.sits_out.push(rank),
        }
    }
    Some(stand)
}

/// Lets the next generation begin, in which the ranks `sits_out`, of all hosts, are missing. No
/// rank may use messages: see [`stand`].
///
/// # Errors
/// The system can't empty the mailboxes.
pub(super) fn mend(place: &Place<'_>, sits_out: &[u32]) -> Result<(), LaunchError> {
    let segment = place.segment;
    for &rank in sits_out {
        segment.status(rank).exclude_from(segment.start_barrier().generation() + 1);
    }
    // SAFETY: every rank of this host that is left has dropped its transports, or uses them no
    // more. Its recovery state says so. The others have ended.
    unsafe { segment.reset_messages()? };
    for rank in left(place) {
        let status = segment.status(rank);
        if status.recovery_state() == RecoveryState::Regroups {
            status.set_recovery_state(RecoveryState::TakesPart);
        }
    }
    segment.start_barrier().mend();
    Ok(())
}

/// Returns the ranks of this host that suspect another one, each with the suspect. The suspicion of
/// a rank that has come to its end does not count.
pub(super) fn suspicions(place: &Place<'_>) -> impl Iterator<Item = (u32, u32)> {
    let has_say =
        |&rank: &u32| place.segment.status(rank).recovery_state() != RecoveryState::SitsOut;
    let suspected = |rank| Some((rank, place.segment.status(rank).suspected()?));
    left(place).filter(has_say).filter_map(suspected)
}

/// Returns the ranks of this host that are not lost.
fn left<'a>(place: &Place<'a>) -> impl Iterator<Item = u32> + use<'a> {
    let segment: &'a Segment = place.segment;
    place.here.iter().copied().filter(|&rank| !segment.status(rank).is_lost())
}
