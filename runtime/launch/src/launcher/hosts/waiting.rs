//! Finds out what a rank waits for if its schedule is in the kernel.

use crate::launcher::rank_set::Place;
use goal_asm::Nisa;
use goal_job::ActionPlace;
use goal_job::rights;
use goal_kernel::{Awaited, Look, Lost, Member, Plan, Unfinished, Unheard};
use goal_shm::Segment;
use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The most actions that a text on a rank names. Further ones are only counted.
const ACTIONS_MAX: usize = 4;

/// Writes into the failure records of this host's ranks what they wait for. The ranks have ended.
pub(super) fn note(place: &Place<'_>, look: &Look, plan: &Plan, members: &[(u32, Member)]) {
    for (rank, member) in members {
        let Some(unfinished) = look.part(member.part) else { continue };
        let text = in_actions(place.nisa, *rank, &plan.part(*rank).origins, &unfinished);
        if !text.is_empty() {
            place.segment.record_failure(*rank, &text);
        }
    }
}

/// The time between two looks at the sends of this host.
const LOOK: Duration = Duration::from_secs(1);
/// The number of looks in a row after which a message counts as lost. Before each look the kernel
/// must have answered another request for the message. While at least one frame in a hundred
/// passes, no message fulfils this.
const LOOKS: u32 = 8;

/// Calls `run`. Meanwhile a thread checks whether messages arrive, and lets the job fail if one
/// does not. `describe` returns the rank that sends the lost message, and a text for the user.
pub(super) fn watched<T>(
    segment: &Segment,
    look: &Look,
    describe: impl Fn(Lost) -> Option<(u32, String)> + Sync,
    run: impl FnOnce() -> T,
) -> T {
    let (end, ended) = mpsc::channel::<()>();
    let describe = &describe;
    let watch = move || {
        let mut unheard = Unheard::default();
        // A thread has its own capabilities, and this one needs none.
        if rights::give_up().is_err() {
            return;
        }
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if let Some((rank, text)) = unheard.look(look, LOOKS).and_then(describe) {
                segment.fail(rank, &text);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let named = std::thread::Builder::new().name("goal-look".into());
        // If the thread can't be started, lost messages are not noticed.
        let _ = named.spawn_scoped(scope, watch);
        // Dropping this ends the thread, also if `run` panics.
        let _end = end;
        run()
    })
}

/// Returns a text on what the actions of a rank in the kernel wait for. `origins` maps each action
/// of the rank's part in the kernel to an action of its section.
fn in_actions(nisa: &Nisa, rank: u32, origins: &[u32], unfinished: &Unfinished) -> String {
    let waits = match unfinished {
        Unfinished::Held(ranks) => {
            let ranks: Vec<u32> = distinct(ranks);
            return format!(
                "a run waits until the messages of the one before the last are known to have come to {} {}",
                if ranks.len() == 1 { "rank" } else { "ranks" },
                shown(&ranks)
            );
        }
        Unfinished::Waits(waits) => waits,
    };
    let offsets: Vec<u32> = nisa.section(rank).records().map(|(offset, _)| offset).collect();
    let line = |(action, awaited): &(u32, Awaited)| {
        let origin = *origins.get(*action as usize)?;
        let name = ActionPlace::new(nisa, rank, *offsets.get(origin as usize)?);
        Some(match awaited {
            Awaited::Messages(ranks) => {
                format!(
                    "{} waits for a message from rank {}",
                    name.action(),
                    shown(&distinct(ranks))
                )
            }
            Awaited::Process => format!("{} was the process's", name.action()),
        })
    };
    let mut lines: Vec<String> = waits.iter().filter_map(line).collect();
    let more = lines.len().saturating_sub(ACTIONS_MAX);
    lines.truncate(ACTIONS_MAX);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("; ")
}

/// Returns each rank once, in ascending order. The list names a rank for each part of its message.
fn distinct(ranks: &[u32]) -> Vec<u32> {
    ranks.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

fn shown(ranks: &[u32]) -> String {
    ranks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
