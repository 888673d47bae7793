//! Tells all hosts of a job how it ended.

use super::post::Post;
use crate::hosts::{LauncherMessage, LinkEvent};
use crate::outcome::Outcome;
use crate::report::Report;
use goal_job::host::Host;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// The end of a job on several hosts, as the launcher of one host sees it.
#[derive(Debug)]
pub enum Ended {
    /// This host leads the job. The other hosts wait until [`Others::conclude`] is called.
    Leading(Box<Outcome>, Others),
    /// Another host led the job, and has sent this host its verdict.
    Told(Verdict),
}

/// The end of a job, as the leader reports it to the other hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The exit status.
    pub status: u8,
    /// The leader's report as a JSON object; `None` if it is not known.
    pub report: Option<String>,
    /// Descriptions of all errors.
    pub errors: Vec<String>,
    /// A description of the ranks that ran on this host.
    pub here: String,
}

/// The connections with the other hosts after the job has ended.
pub struct Others {
    pub(super) post: Post,
    pub(super) hosts: BTreeSet<Host>,
}

impl fmt::Debug for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.hosts).finish()
    }
}

impl Others {
    /// Returns the signal that a launcher of another host got meanwhile, if any.
    pub fn interrupted(&self) -> Option<usize> {
        while let Some(event) = self.post.event(Duration::ZERO) {
            if let LinkEvent::Message(_, LauncherMessage::Interrupted { signal }, _) = event {
                return Some(signal);
            }
        }
        None
    }

    /// Tells the other hosts the outcome and the exit status.
    pub fn conclude(self, status: u8, report: &Report) {
        for &host in &self.hosts {
            let verdict = LauncherMessage::Verdict {
                status,
                report: report.to_json(),
                errors: report.errors().to_vec(),
            };
            self.post.send(host, verdict);
        }
    }
}
