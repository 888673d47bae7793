//! Speaks PMIx by a library that is installed on the machine.
//!
//! Threat: blobs come from other ranks through the launcher's servers. A value that is no blob, or
//! is too large, causes an error that names its rank. The module `library` handles the threats of
//! foreign code, and `search` those of the environment.

mod abi;
mod library;
mod search;
#[cfg(test)]
mod tests;
mod worker;

use crate::deadline::Deadline;
use crate::error::{Error, shown};
use library::{Content, Library, Status, c_text};
use worker::{Unfinished, Worker};

/// The byte in front of each blob. So a value is never empty, and a value of another program is
/// noticed.
const MARK: u8 = b'g';

/// A connection to a PMIx server.
#[derive(Debug)]
pub(crate) struct Client {
    worker: Worker<State>,
    rank: u32,
    namespace: String,
    size: u32,
    local: Option<(u32, u32)>,
}

/// The state of the thread that calls the library.
#[derive(Debug)]
struct State {
    library: Result<Library, Error>,
    namespace: String,
    rank: u32,
    size: u32,
}

/// What a client asks for when it connects: the process's namespace and rank, and the numbers of
/// the job.
struct Welcome {
    namespace: String,
    rank: u32,
    size: u32,
    local: Option<(u32, u32)>,
}

impl Client {
    /// Loads a PMIx library, connects to the server, and asks for the numbers of the job. The
    /// server must have the namespace `namespace`. `rank` is used in errors.
    pub(crate) fn open(rank: u32, namespace: &str, deadline: &Deadline) -> Result<Self, Error> {
        let make =
            move || State { library: search::load(rank), namespace: String::new(), rank, size: 0 };
        let worker = Worker::start(make).map_err(|cause| unfinished(cause, rank, "", deadline))?;
        let welcome = call(&worker, rank, "PMIx_Init", deadline, State::open)?;
        // Without a server, some releases pretend that the process is a job of its own.
        if welcome.namespace != namespace {
            return Err(Error::Protocol {
                rank,
                request: "PMIx_Init".to_owned(),
                cause: "the server has another namespace than PMIX_NAMESPACE",
                answer: shown(welcome.namespace.as_bytes()),
            });
        }
        let Welcome { namespace, rank, size, local } = welcome;
        Ok(Self { worker, rank, namespace, size, local })
    }

    /// Returns the rank of this process, as the server states it.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks of the job.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns this rank's number on its node, and the number of ranks on this node; `None` if the
    /// server does not state them.
    pub(crate) fn local(&self) -> Option<(u32, u32)> {
        self.local
    }

    /// Returns the name of the job.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Exchanges blobs: every rank gets the blobs of all ranks, by rank. `round` must differ from
    /// exchange to exchange.
    pub(crate) fn exchange(
        &mut self,
        round: u32,
        blob: &[u8],
        deadline: &Deadline,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let blob = blob.to_vec();
        let job = move |state: &mut State| state.exchange(round, &blob);
        call(&self.worker, self.rank, "PMIx_Fence", deadline, job)
    }

    /// Disconnects from the PMIx server.
    pub(crate) fn finalize(&mut self, deadline: &Deadline) -> Result<(), Error> {
        call(&self.worker, self.rank, "PMIx_Finalize", deadline, |state| {
            let library = state.library()?;
            state.named("PMIx_Finalize", library.finalize())
        })
    }

    /// Asks the launcher to end all ranks. Waits until the library's call returns, or the deadline
    /// passes. The launcher ends this process too.
    pub(crate) fn abort(&mut self, status: i32, text: &str, deadline: &Deadline) {
        let text = c_text(text);
        // An error is ignored, since the caller ends this process in any case.
        let _ = call(&self.worker, self.rank, "PMIx_Abort", deadline, move |state| {
            let library = state.library()?;
            state.named("PMIx_Abort", library.abort(status, &text))
        });
    }
}

impl State {
    fn library(&self) -> Result<&Library, Error> {
        self.library.as_ref().map_err(Clone::clone)
    }

    /// Converts a failed status of the function `call` to an error.
    fn named<T>(&self, call: &'static str, result: Result<T, Status>) -> Result<T, Error> {
        result.map_err(|status| {
            let text =
                self.library.as_ref().map(|library| library.text(status)).unwrap_or_default();
            let hint = match call {
                "PMIx_Init" => {
                    "the launcher has ended, or PMIX_NAMESPACE and others stem from another job"
                }
                _ => "a rank may have ended early: look for the first error of the job",
            };
            Error::Pmix { rank: self.rank, call, status, text, hint }
        })
    }

    fn open(&mut self) -> Result<Welcome, Error> {
        let library = self.library()?;
        let (namespace, rank) = self.named("PMIx_Init", library.init())?;
        let number = |rank, key| match library.get(&namespace, rank, key) {
            Ok(Content::Number(number)) => Some(number),
            _ => None,
        };
        let size = number(abi::RANK_WILDCARD, c"pmix.job.size").ok_or_else(|| Error::Protocol {
            rank,
            request: "PMIx_Get of pmix.job.size".to_owned(),
            cause: "the server does not tell the number of ranks",
            answer: String::new(),
        })?;
        let local_rank = number(rank, c"pmix.lrank");
        let local = local_rank.zip(number(abi::RANK_WILDCARD, c"pmix.local.size"));
        (self.rank, self.size) = (rank, size);
        self.namespace.clone_from(&namespace);
        Ok(Welcome { namespace, rank, size, local })
    }

    fn exchange(&mut self, round: u32, blob: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let library = self.library()?;
        let key = c_text(&format!("goal-{round}"));
        self.named("PMIx_Put", library.put(&key, &[&[MARK], blob].concat()))?;
        self.named("PMIx_Commit", library.commit())?;
        self.named("PMIx_Fence", library.fence())?;
        let blob_of = |rank| {
            let content = self.named("PMIx_Get", library.get(&self.namespace, rank, &key))?;
            blob_in(content).map_err(|answer| Error::Protocol {
                rank: self.rank,
                request: format!("PMIx_Get of the blob of rank {rank}"),
                cause: "the value is not a blob of this program, or is larger than the limit",
                answer,
            })
        };
        (0..self.size).map(blob_of).collect()
    }
}

/// Returns the blob in a value. If the value has no blob, the error describes the value.
fn blob_in(content: Content) -> Result<Vec<u8>, String> {
    match content {
        Content::Bytes(mut bytes) if bytes.first() == Some(&MARK) => {
            bytes.remove(0);
            Ok(bytes)
        }
        Content::Bytes(bytes) => Err(shown(&bytes)),
        Content::Number(number) => Err(number.to_string()),
        Content::Other => Err("a value of another type or size".to_owned()),
    }
}

/// Calls `function` in the thread that calls the library, and returns its result.
fn call<R: Send + 'static>(
    worker: &Worker<State>,
    rank: u32,
    name: &str,
    deadline: &Deadline,
    function: impl FnOnce(&mut State) -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    let result = worker.call(deadline, function);
    result.map_err(|cause| unfinished(cause, rank, name, deadline))?
}

fn unfinished(cause: Unfinished, rank: u32, name: &str, deadline: &Deadline) -> Error {
    match cause {
        Unfinished::Late => Error::Deadline { rank, request: name.to_owned(), wait: deadline.wait },
        Unfinished::Gone => Error::Closed { rank, cause: "the thread for PMIx ended".to_owned() },
    }
}
