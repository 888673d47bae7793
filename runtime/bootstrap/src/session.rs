//! Defines a session: the process's connection to its launcher.
//!
//! Threat: two users of one connection would read each other's answers. A process has at most one
//! session. After an error that leaves answers outstanding, the session is not used again.
//!
//! Threat: the starter of a process chooses its environment, which names the library of PMIx and
//! the descriptor of PMI-1. The library reads further variables, such as the folders of its own
//! parts. So a process whose file gave it rights that its starter lacks (`AT_SECURE`) opens no
//! session. It does not matter if the process has given up these rights or has set `no_new_privs`
//! since.
#![allow(unsafe_code)] // getauxval

use crate::deadline::Deadline;
use crate::detection::{Exchange, Launcher};
use crate::error::Error;
use crate::limits::{ABORT_WAIT, BLOB_MAX, DROP_WAIT, FORWARD_WAIT, RANKS_MAX};
use crate::{pmi, pmix};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// True once this process has tried to open a session.
static OPENED: AtomicBool = AtomicBool::new(false);

/// Returns true if the kernel gave this process additional rights because of its file, when it
/// executed the file.
fn has_rights_of_file() -> bool {
    // SAFETY: the call reads what the kernel left at the start of the process.
    (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0
}

/// A rank's connection to its launcher, by which ranks exchange blobs.
///
/// All ranks of the job must open a session, take part in the same exchanges, and finalize the
/// session.
#[derive(Debug)]
pub struct Session {
    backend: Backend,
    rank: u32,
    size: u32,
    local: Option<(u32, u32)>,
    job: String,
    /// The number of exchanges so far. Keys contain this number, because a key can be put only
    /// once.
    round: u32,
    /// False once an operation has failed or the session has ended.
    is_usable: bool,
}

#[derive(Debug)]
enum Backend {
    Pmi(pmi::Client),
    Pmix(pmix::Client),
}

impl Session {
    /// Connects to the launcher, within the time `wait`. A process can do so only once, and not if
    /// it calls `MPI_Init`. Call this before other threads start, because a PMIx library may change
    /// the environment.
    ///
    /// # Errors
    /// The launcher carries no blobs, can't be reached, or contradicts the environment; no PMIx
    /// library is found; or the time is over. The text states a remedy. [`Error::Rights`] takes
    /// precedence over all other errors.
    pub fn open(launcher: &Launcher, wait: Duration) -> Result<Self, Error> {
        let rank = launcher.rank();
        if has_rights_of_file() {
            return Err(Error::Rights { rank, launcher: launcher.kind().name() });
        }
        let claim = || match OPENED.swap(true, Relaxed) {
            true => Err(Error::Spent { rank, cause: "this process has had a session" }),
            false => Ok(()),
        };
        let deadline = Deadline::after(wait);
        let local = launcher.local_rank().zip(launcher.local_size());
        match launcher.exchange() {
            Exchange::None { reason, way_out } => {
                let (launcher, reason) = (launcher.kind().name(), reason.clone());
                Err(Error::NoExchange { rank, launcher, reason, way_out })
            }
            Exchange::Pmi { descriptor } => {
                claim()?;
                let size = launcher.size().unwrap_or_default();
                let error =
                    |error: std::io::Error| Error::Closed { rank, cause: error.to_string() };
                let socket = pmi::take(*descriptor).map_err(error)?;
                let client = pmi::Client::open(socket, rank, size, &deadline)?;
                let local = match local {
                    Some(local) => Some(local),
                    None => client.local(&deadline)?,
                };
                let job = job_name("pmi", client.space());
                Self::new(Backend::Pmi(client), rank, size, local, job)
            }
            Exchange::Pmix { namespace } => {
                claim()?;
                let client = pmix::Client::open(rank, namespace, &deadline)?;
                agree(rank, "rank", Some(rank), client.rank())?;
                agree(rank, "number of ranks", launcher.size(), client.size())?;
                let (size, job) = (client.size(), job_name("pmix", client.namespace()));
                let local = local.or(client.local());
                Self::new(Backend::Pmix(client), rank, size, local, job)
            }
        }
    }

    fn new(
        backend: Backend,
        rank: u32,
        size: u32,
        local: Option<(u32, u32)>,
        job: String,
    ) -> Result<Self, Error> {
        if rank >= size || size > RANKS_MAX {
            return Err(Error::Protocol {
                rank,
                request: "the number of ranks".to_owned(),
                cause: "it is not above the rank, or out of range",
                answer: size.to_string(),
            });
        }
        Ok(Self { backend, rank, size, local, job, round: 0, is_usable: true })
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks of the job.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns the rank of this process among the job's ranks on its node; `None` if the launcher
    /// does not state it.
    pub fn local_rank(&self) -> Option<u32> {
        self.local.map(|(rank, _)| rank)
    }

    /// Returns the number of the job's ranks on this node; `None` if the launcher does not state
    /// it.
    pub fn local_size(&self) -> Option<u32> {
        self.local.map(|(_, size)| size)
    }

    /// Returns the launcher's name of the job, which is the same on all ranks. It consists of
    /// letters, digits and `_ - . @`. Jobs that run at the same time have different names if they
    /// were started on the same host or by the same Slurm. The name is no secret.
    pub fn job(&self) -> &str {
        &self.job
    }

    /// Exchanges blobs: every rank gets the blobs of all ranks, by rank. All ranks must call this,
    /// each with a blob of at most [`BLOB_MAX`] bytes.
    ///
    /// # Errors
    /// The blob is too large, a rank does not call this within the time `wait`, or the launcher
    /// fails. Unless the blob was too large, the session can only be dropped or aborted after an
    /// error.
    pub fn allgather(&mut self, blob: &[u8], wait: Duration) -> Result<Vec<Vec<u8>>, Error> {
        let rank = self.rank;
        if blob.len() > BLOB_MAX {
            return Err(Error::TooLarge { rank, bytes: blob.len(), limit: BLOB_MAX });
        }
        if !self.is_usable {
            return Err(Error::Spent { rank, cause: "an earlier operation of the session failed" });
        }
        let deadline = Deadline::after(wait);
        self.round += 1;
        let result = match &mut self.backend {
            Backend::Pmi(client) => client.exchange(self.round, blob, &deadline),
            Backend::Pmix(client) => client.exchange(self.round, blob, &deadline),
        };
        self.is_usable = result.is_ok();
        result
    }

    /// Ends the session. The launcher then takes the end of this process for a success.
    ///
    /// # Errors
    /// The launcher does not confirm the end within the time `wait`, or an earlier operation
    /// failed.
    pub fn finalize(mut self, wait: Duration) -> Result<(), Error> {
        if !self.is_usable {
            let cause = "an earlier operation of the session failed";
            return Err(Error::Spent { rank: self.rank, cause });
        }
        self.end(wait)
    }

    /// Ends the session of a job that has failed. First waits a moment, because the launcher may
    /// end all ranks itself. If Hydra ends a process whose session is just ending, Hydra fails and
    /// prints no cause. Errors are left to the launcher.
    pub fn end_after_failure(self) {
        if matches!(self.backend, Backend::Pmi(_)) {
            std::thread::sleep(FORWARD_WAIT);
        }
        drop(self);
    }

    /// Ends all ranks of the job: prints `text` to standard error, and asks the launcher to end the
    /// ranks. This process ends in any case, with `status` unless the launcher ends it first.
    pub fn abort(mut self, status: i32, text: &str) -> ! {
        let text = text.escape_debug().to_string();
        eprintln!("rank {}: {text}", self.rank);
        let deadline = Deadline::after(ABORT_WAIT);
        match &mut self.backend {
            Backend::Pmi(client) => {
                // Hydra ends all ranks at once, and may drop their last output.
                std::thread::sleep(FORWARD_WAIT);
                client.abort(status, &deadline);
            }
            Backend::Pmix(client) => client.abort(status, &text, &deadline),
        }
        std::process::exit(status)
    }

    fn end(&mut self, wait: Duration) -> Result<(), Error> {
        self.is_usable = false;
        let deadline = Deadline::after(wait);
        match &mut self.backend {
            Backend::Pmi(client) => client.finalize(&deadline),
            Backend::Pmix(client) => client.finalize(&deadline),
        }
    }
}

impl Drop for Session {
    /// Ends a session that is still usable, so that the launcher does not take the end of this
    /// process for a failure. After an error, leaves the end to the launcher.
    fn drop(&mut self) {
        if self.is_usable {
            let _ = self.end(DROP_WAIT);
        }
    }
}

/// Returns an error if the launcher states another number than the environment.
fn agree(rank: u32, what: &'static str, stated: Option<u32>, launcher: u32) -> Result<(), Error> {
    match stated {
        Some(environment) if environment != launcher => {
            Err(Error::Disagreement { rank, what, environment, launcher })
        }
        _ => Ok(()),
    }
}

/// Returns a name of the job that can be part of a file name. Other characters become underscores.
fn job_name(protocol: &str, name: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
    let name: String = name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    format!("{protocol}-{name}")
}
