//! Ranks as processes.

use super::Place;
use super::process::Order;
use super::supervise::{Fallen, stop};
use crate::shm::{Sealed, Segment};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long ranks of a job that is complete may take to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(5);
/// Processes that are asked at a look whether they still run, at least; all are within ten looks.
const LOOKED_AT_MIN: usize = 64;

/// The processes of a job. Those that still run are killed when this is dropped.
pub(super) struct Processes {
    /// With their ranks.
    children: Vec<(u32, Child)>,
    /// Which one is asked next.
    next: usize,
}

impl Processes {
    /// Starts one process a rank of this host; stops early where the job is interrupted. They inherit both memory files and end with
    /// the calling thread.
    ///
    /// # Errors
    /// What the system says; processes that were started are killed.
    pub(super) fn spawn(place: &Place<'_>, sealed: &Sealed, executable: &Path) -> io::Result<Self> {
        let Place { segment, settings, options, .. } = *place;
        let mut processes = Self { children: Vec::new(), next: 0 };
        let told = Sealed::copy_of(&serde_json::to_vec(settings).expect("numbers and texts"))?;
        for &rank in place.here {
            let order = Order {
                rank,
                launcher: std::process::id(),
                segment: segment.mapping().fd().as_raw_fd(),
                schedule: sealed.fd().as_raw_fd(),
                settings: told.fd().as_raw_fd(),
                section: options
                    .window
                    .as_ref()
                    .map(|window| (window.file.as_raw_fd(), window.outline.place(rank))),
            };
            let mut command = Command::new(executable);
            command.env(Order::VARIABLE, order.to_text()).stdin(Stdio::null()).stdout(Stdio::null());
            // A group of its own: what a terminal sends to the launcher's group is the launcher's to handle.
            command.process_group(0);
            processes.children.push((rank, command.spawn()?));
            if options.interrupted.load(Ordering::SeqCst) != 0 {
                break;
            }
        }
        Ok(processes)
    }

    /// A process that ended, and how.
    pub(super) fn fallen(&mut self) -> Option<Fallen> {
        let looked_at = self.children.len();
        let looks = LOOKED_AT_MIN.max(looked_at.div_ceil(10)).min(looked_at);
        for _ in 0..looks {
            let (rank, child) = &mut self.children[self.next];
            self.next = (self.next + 1) % looked_at;
            if let Ok(Some(status)) = child.try_wait() {
                return Some((*rank, describe(status)));
            }
        }
        None
    }

    /// Lets the processes of a complete job exit.
    pub(super) fn join(mut self, segment: &Segment) {
        let mut running = 0;
        stop(segment, Some(EXIT_LIMIT), || {
            while let Some((_, child)) = self.children.get_mut(running) {
                match child.try_wait() {
                    Ok(None) => return false,
                    _ => running += 1,
                }
            }
            true
        });
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            // Fails for one that has ended, which is as well.
            let _ = child.kill();
        }
        for (_, child) in &mut self.children {
            let _ = child.wait();
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("was killed by signal {signal} ({name})"),
            None => format!("was killed by signal {signal}"),
        },
        (None, Some(code)) => format!("exited with status {code} before its end"),
        (None, None) => "ended".to_owned(),
    }
}
