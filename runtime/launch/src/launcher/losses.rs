//! Lets a job go on without ranks that are lost.
//!
//! One launcher alone decides which ranks are lost and when the others go on, so that all ranks
//! come to the same result. In a job on several hosts this is the leader. It marks the job as
//! broken, and every schedule ends early. Each rank that notices sets its recovery state: it waits
//! for the next generation, or it has come to its end. Once all ranks have done so, no rank uses
//! messages any more. Then each launcher empties the mailboxes and rings of its host, where a lost
//! rank may have left a message incomplete. The next generation begins.
//!
//! Threat: a lost rank that still runs could write to memory of other ranks later, or send them
//! messages. So its processes are killed and awaited first. If that is not possible, the job ends.
//! If a whole host is lost, its connections are closed with the generation. Each generation has its
//! own key, so its ranks refuse connections that were begun earlier. A process on the lost host
//! could make the new key from the job's secret. But it belongs to the user, who could give away
//! the secret anyway.
#![allow(unsafe_code)] // empties mailboxes that no rank uses

use super::error::LaunchError;
use super::options::Options;
use super::rank_set::Place;
use goal_job::Mode;
use goal_job::network::{Network, Wire};
use goal_shm::{RecoveryState, Segment};

/// The state of a host after a loss, when none of its remaining ranks uses messages any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuiescentState {
    /// True if some of its ranks wait for the next generation.
    pub(super) regroups: bool,
    /// The ranks of the host that have come to their end.
    pub(super) sits_out: Vec<u32>,
}

/// Refuses options with which a job can't go on after the loss of a rank.
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

/// Returns true if the job goes on when this rank ends. For this, all ranks must have attached, and
/// at least one other rank of the job must be left.
pub(super) fn is_survived(place: &Place<'_>, rank: u32) -> bool {
    let (start_barrier, segment) = (place.segment.start_barrier(), place.segment);
    let is_left = |&other: &u32| other != rank && !segment.status(other).is_lost();
    place.settings.spec.survives
        && (start_barrier.is_open() || start_barrier.is_broken())
        && (0..segment.num_ranks()).any(|other| is_left(&other))
}

/// Marks a rank as lost, whose processes have ended. Breaks the job if the rank takes part in this
/// generation, so that the ranks of this host notice.
///
/// All launchers agree on which ranks take part, as each generation begins with the same list on
/// all hosts.
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

/// Returns a text for the user on the loss of a rank.
pub(super) fn text(rank: u32, how: &str) -> String {
    format!("rank {rank} {how}; the others go on without it")
}

/// Wakes the ranks of a broken job on one host, so that they notice. Begins the next generation
/// once all remaining ranks wait for it or have come to their end.
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

/// Returns the quiescent state of this host, which covers its remaining ranks. If one of them still
/// uses messages of the broken job, wakes all of them and returns `None`.
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

/// Begins the next generation without the ranks `sits_out`. These must be the ranks of all hosts
/// that have come to their end. No rank may use messages: see [`stand`].
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

/// Returns the ranks of this host that suspect another rank, each with the rank it suspects. Leaves
/// out ranks that have come to their end.
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
