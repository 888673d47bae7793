//! Adds advice to errors and reports: the option of the command line that helps.

use goal_job::binding::BindingError;
use goal_launch::{End, LaunchError};
use std::io;
use std::path::Path;

/// Returns the text for the reason why a job is not started, with the option that helps.
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
    if let LaunchError::Program { program, cause } = error
        && let Some(hint) = on_file(program, cause)
    {
        return format!("{error}: {hint}");
    }
    format!("{error}{hint}")
}

/// Returns advice for a word that names neither a file nor a program. Returns `None` for other
/// names.
pub(crate) fn on_word(name: &Path) -> Option<String> {
    let is_word = name.extension().is_none() && name.components().count() == 1;
    if !is_word || name == Path::new("-") || name.exists() {
        return None;
    }
    let name = name.display();
    Some(match COMPILER.contains(&name.to_string().as_str()) {
        true => format!("there is no file {name}; if it is the command, write goalc {name}"),
        false => format!("{name} is neither a file here nor a program in PATH"),
    })
}

/// The commands of `goalc` that users may expect in `goal-run`.
const COMPILER: [&str; 10] =
    ["build", "check", "dis", "draw", "explain", "fmt", "gen", "graph", "reduce", "stats"];

/// Returns advice for a file that can't be executed. Returns `None` if there is none.
fn on_file(program: &str, cause: &io::Error) -> Option<String> {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => Some(format!(
            "chmod +x {program} lets it be executed; an object file must be linked first"
        )),
        io::ErrorKind::NotFound => {
            Some("the file, or the interpreter in its first line, is missing".to_owned())
        }
        _ => None,
    }
}

/// Returns advice to append to the text on the end of a job. Returns `None` if there is none.
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
