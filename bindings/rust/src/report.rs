//! Makes the texts of errors and reports about runs: what a rank waits for, and which collectives a
//! failed action may belong to.

use crate::error::{Error, ErrorCode, error_of};
use crate::progress::RankCore;
use crate::slots::Instance;
use goal_engine::Failure;
use goal_rank::progress::Interrupted;

/// The text between the reason and what the rank waits for, in the error of a rank that waits when
/// the job ends. The launcher's report has the rank's number instead of the reason and this text.
const THIS_ONE: &str = "; this one ";

/// The beginnings of error texts about a failed action.
const ACTIONS: [&str; 2] = ["action ", "recv number "];

/// The advice for a message of another size than its receive, if both belong to a collective.
const COUNTS_ADVICE: &str = "; all ranks must call collectives with equal counts and types";

/// Adds the names of the running collectives to the error of a failed action. If there are several,
/// any of them may contain the action. `starting` has the name of the collective that starts;
/// `Some(None)` stands for a schedule of the program. Other errors are returned unchanged.
#[cold]
pub(crate) fn name_collectives(
    core: &RankCore,
    starting: Option<Option<&'static str>>,
    error: Error,
) -> Error {
    let mut text = error.to_string();
    if error.code() != ErrorCode::Failed || !ACTIONS.iter().any(|name| text.starts_with(name)) {
        return error;
    }
    let running = core.slots.all_schedules().map(|schedule| schedule.collective());
    let all: Vec<Option<&str>> = running.chain(starting).collect();
    let mut names: Vec<&str> = all.iter().copied().flatten().collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return error;
    }
    if !all.contains(&None)
        && let Some(problem) = text.strip_suffix(Failure::SIZES_ADVICE)
    {
        text = format!("{problem}{COUNTS_ADVICE}");
    }
    Error::new(error.code(), format!("{}: {text}", names.join(" or ")))
}

/// Returns what a rank waits for, if `text` is the text of an error from [`RankCore::error_in`];
/// `None` otherwise.
pub(crate) fn waits_for(text: &str) -> Option<&str> {
    let reasons = [Interrupted::Stuck, Interrupted::Late];
    let behind = |why: &Interrupted| text.strip_prefix(&why.to_string())?.strip_prefix(THIS_ONE);
    reasons.iter().find_map(behind)
}

impl RankCore {
    /// Returns the error of the waiting function `call` that was interrupted by `why`.
    #[cold]
    pub(crate) fn error_in(&mut self, call: &str, why: &Interrupted) -> Error {
        match why {
            Interrupted::Stuck | Interrupted::Late => {
                let text = format!("{why}{THIS_ONE}{}", self.describe_waiting(call));
                Error::new(error_of(why).code(), text)
            }
            other => error_of(other),
        }
    }

    /// Returns a text that states what this rank waits for: the function `call`, and the actions
    /// under way of each run.
    #[cold]
    pub(crate) fn describe_waiting(&mut self, call: &str) -> String {
        const ACTIONS_MAX: usize = 8;
        let mut text = format!("waits in {call}");
        let RankCore { member: Some(member), slots, .. } = self else { return text };
        let mut lines = Vec::new();
        for (_, instance) in slots.all_running() {
            match instance {
                Instance::Process(handle) => {
                    let actions = member.underway(handle).into_iter().flatten();
                    lines.extend(actions.map(|action| action.to_string()));
                }
                Instance::Linked(run) => {
                    lines.extend(run.underway().iter().map(ToString::to_string));
                }
                Instance::Kernel(part) => lines.extend(part.waits()),
                Instance::Gone => {}
            }
        }
        let more = lines.len().saturating_sub(ACTIONS_MAX);
        lines.truncate(ACTIONS_MAX);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        if !lines.is_empty() {
            text.push_str(": ");
            text.push_str(&lines.join("; "));
        }
        text
    }
}
