//! Defines what happens to a job in which nothing moves, although threads of its ranks may still
//! act.

use serde::{Deserialize, Serialize};
use std::env;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

/// What happens to a job in which nothing moves, although threads outside of calls of the library
/// may still act. If no thread can act, the job is ended at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// True if the job is ended. Otherwise it goes on, and its launcher lists what each rank waits
    /// for.
    pub ends: bool,
    /// The time without any progress after which that happens.
    pub after: Duration,
}

/// The environment variable with the treatment for a process without `goal-run`, in the form of the
/// option `--stuck`.
const VARIABLE: &str = "GOAL_STUCK";

/// The error that a text does not name a treatment.
#[derive(Debug, thiserror::Error)]
#[error("give tell or end, and perhaps a comma and a number of seconds, as end,30")]
pub struct NoTreatment;

impl Default for Stuck {
    fn default() -> Self {
        Self { ends: false, after: Duration::from_secs(10) }
    }
}

impl FromStr for Stuck {
    type Err = NoTreatment;

    fn from_str(text: &str) -> Result<Self, NoTreatment> {
        let (action, seconds) = text.split_once(',').map_or((text, None), |(a, s)| (a, Some(s)));
        let ends = match action {
            "tell" => false,
            "end" => true,
            _ => return Err(NoTreatment),
        };
        let after = match seconds {
            Some(seconds) => seconds.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok()),
            None => Some(Self::default().after),
        };
        Ok(Self { ends, after: after.ok_or(NoTreatment)? })
    }
}

/// Writes the treatment in the form of the command line.
impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = if self.ends { "end" } else { "tell" };
        write!(f, "{action},{}", self.after.as_secs_f64())
    }
}

impl Stuck {
    /// Returns the treatment that the environment names in `GOAL_STUCK`, or the default.
    ///
    /// # Errors
    /// The text of the variable does not name a treatment.
    pub fn from_environment() -> io::Result<Self> {
        let Some(text) = env::var_os(VARIABLE) else { return Ok(Self::default()) };
        let text = text.to_string_lossy();
        text.parse().map_err(|error| io::Error::other(format!("{VARIABLE} is `{text}`: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_treatments_or_errors() {
        let is = |text: &str, ends, ms| {
            assert_eq!(
                text.parse::<Stuck>().unwrap(),
                Stuck { ends, after: Duration::from_millis(ms) }
            );
        };
        is("tell", false, 10_000);
        is("end", true, 10_000);
        is("end,0.25", true, 250);
        is("tell,60", false, 60_000);
        for text in ["", "End", "end,", "end,-1", "end,1,2", "tell,inf", "10"] {
            assert!(text.parse::<Stuck>().is_err(), "{text}");
        }
    }
}
