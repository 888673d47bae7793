//! The options of the command line that help against an error or an end of a job.

use goal_run::binding::BindingError;
use goal_run::launcher::{End, LaunchError};

/// Returns the text on a reason why a job is not started, with the option that helps against it.
pub(crate) fn explain(error: &LaunchError) -> String {
    let hint = match error {
        LaunchError::TooLarge(_) => " (--max-segment raises it)",
        LaunchError::TooManyRanks { .. } => " (--max-started raises it)",
        LaunchError::TooLargeToVerify { .. } => " (--max-verified raises it)",
        LaunchError::NodeInWindow => ": leave --window out, or take --progress thread",
        LaunchError::NodeOnHosts => ": take --progress thread, or leave it out",
        LaunchError::CannotSurvive(_) => ": leave --survive out",
        LaunchError::Offload(_) => ": take --offload auto or off, with which processes run it",
        LaunchError::Binding(BindingError::TooShort { .. }) => {
            ": name more (one may be named several times), or take --bind none"
        }
        LaunchError::Binding(_) => ": name others in --bind, or take --bind core",
        LaunchError::Executable => ", or take --ranks-as threads",
        LaunchError::Exposed(_) => " (or take --ranks-as threads)",
        _ => "",
    };
    format!("{error}{hint}")
}

/// Returns what may help after this end of a job, to be appended to the text on it.
pub(crate) fn after(end: &End) -> Option<&'static str> {
    match end {
        End::Stuck(pending) | End::TimedOut(pending) | End::Died { pending, .. }
            if pending.reached_limit() =>
        {
            Some("; raise it with --unexpected-limit, or post the receives earlier")
        }
        _ => None,
    }
}
