//! Prepares a rank's engine for its job, and stores the failures of its actions.
#![allow(unsafe_code)] // the recorder of a rank, used by its engine alone

use crate::transport::RankTransport;
use goal_engine::{Engine, Failure};
use goal_eth::now_ns;
use goal_job::{Job, trace};

/// Prepares the engine of `rank` for the job. In a traced job it adds a recorder. In a job of
/// programs on several hosts it limits the rendezvous requests that wait for a receive.
pub(crate) fn equip<'a>(
    job: &Job<'a>,
    rank: u32,
    mut engine: Engine<'a, RankTransport<'a>>,
) -> Engine<'a, RankTransport<'a>> {
    // SAFETY: a rank's recorder is used by its engine alone, which one process at a time polls.
    if let Some(recorder) = unsafe { trace::recorder(job.segment, rank, now_ns) } {
        engine.record(recorder);
    }
    if job.settings.network.is_some() && job.settings.are_programs() {
        engine.limit_requests();
    }
    engine
}

/// Stores the failure of an action in the segment. The failure's text names the action in the
/// schedule that contains it: the job's, or one that a program has started.
pub(crate) fn fail_by(
    job: &Job<'_>,
    engine: &Engine<'_, RankTransport<'_>>,
    rank: u32,
    failure: &Failure,
) {
    let nisa = engine.schedule_of(failure).map_or(job.nisa, |schedule| schedule.nisa());
    job.fail_in(nisa, rank, failure);
}
