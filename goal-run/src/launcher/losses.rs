//! The loss of ranks in a job that goes on without them.
//!
//! The launcher alone decides which ranks are lost and when those that are left go on, so that all
//! of them see the same. It breaks the job: every schedule ends early, and each rank that notices
//! says that it waits for the others, or that it has come to its end. When all have, none uses
//! messages any more. The launcher then empties all mailboxes and rings, in which a lost rank may
//! have left something half done, and lets the next generation begin.
//!
//! Threat: a lost rank that is not quite dead could write to memory of the others later. So its
//! processes are killed and waited for first. If that is not possible, the job ends.
#![allow(unsafe_code)] // empties mailboxes that no rank uses

use super::crew::Place;
use super::error::LaunchError;
use super::options::Options;
use crate::job::Mode;
use goal_shm::{Segment, Stance};

/// Refuses options with which no job survives the loss of a rank.
///
/// # Errors
/// [`LaunchError::CannotSurvive`].
pub(super) fn refuse(options: &Options, has_hosts: bool) -> Result<(), LaunchError> {
    let why = match options.progress {
        _ if has_hosts => "the job is on several hosts",
        _ if !options.ranks.are_programs() => "a schedule needs all of its ranks",
        Mode::Node => "ranks that act for each other (--progress node) are lost together",
        Mode::Caller | Mode::Thread => return Ok(()),
    };
    Err(LaunchError::CannotSurvive(why))
}

/// Returns true if a rank may be lost without the end of the job: all have attached, and others are
/// left.
pub(super) fn is_survived(place: &Place<'_>, rank: u32) -> bool {
    let (gate, segment) = (place.segment.gate(), place.segment);
    let is_left = |&&other: &&u32| other != rank && !segment.status(other).is_lost();
    place.settings.survives
        && (gate.is_open() || gate.is_broken())
        && place.here.iter().any(|other| is_left(&other))
}

/// Notes the loss of a rank, which is buried, and lets the others know.
pub(super) fn note(place: &Place<'_>, rank: u32, how: &str) {
    let segment = place.segment;
    let (gate, status) = (segment.gate(), segment.status(rank));
    segment.record_failure(rank, &format!("rank {rank} {how}"));
    status.lose(gate.generation());
    (place.options.tell)(&format!("rank {rank} {how}; the others go on without it"));
    // A rank that had come to its end takes nothing with it.
    if !status.has_finished() {
        gate.break_up();
    }
}

/// Wakes the ranks of a broken job, so that they notice, and lets them go on when all of them wait
/// for that.
///
/// # Errors
/// The system can't empty the mailboxes.
pub(super) fn tend(place: &Place<'_>) -> Result<(), LaunchError> {
    let Place { segment, here, .. } = *place;
    let gate = segment.gate();
    if !gate.is_broken() {
        return Ok(());
    }
    let left = || here.iter().filter(|&&rank| !segment.status(rank).is_lost());
    let stances = || left().map(|&rank| (rank, segment.status(rank).stance()));
    let mut are_ready = false;
    for (rank, stance) in stances() {
        match stance {
            Stance::TakesPart => {
                wake(segment, left());
                return Ok(());
            }
            Stance::Regroups => are_ready = true,
            Stance::SitsOut => segment.status(rank).miss_from(gate.generation() + 1),
        }
    }
    if !are_ready {
        return Ok(());
    }
    // SAFETY: every rank that is left has dropped its end of all messages, or uses it no more, and
    // says so by its stance. The others have ended.
    unsafe { segment.reset_messages()? };
    for (rank, stance) in stances() {
        if stance == Stance::Regroups {
            segment.status(rank).take_stance(Stance::TakesPart);
        }
    }
    gate.mend();
    Ok(())
}

fn wake<'a>(segment: &Segment, ranks: impl Iterator<Item = &'a u32>) {
    for &rank in ranks {
        segment.mailbox(rank).wake();
    }
}
