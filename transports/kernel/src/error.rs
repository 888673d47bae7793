//! The error that the kernel does not load or attach the engine.

use aya::programs::ProgramError;
use aya::{EbpfError, programs::ProgramError as Program};
use rustix::thread::CapabilitySet;
use std::error::Error;
use std::{fmt, io};

/// The error that the engine could not be loaded or attached.
#[derive(Debug)]
pub struct LoadError(Cause);

#[derive(Debug)]
enum Cause {
    Object(EbpfError),
    Program(Box<ProgramError>),
    System(io::Error),
}

impl LoadError {
    /// Returns the verifier's log, if it refused the engine.
    pub fn verifier_log(&self) -> Option<String> {
        match &self.0 {
            Cause::Program(error) => match &**error {
                Program::LoadError { verifier_log, .. } => Some(verifier_log.to_string()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if the verifier refused the engine.
    pub(crate) fn is_verifier(&self) -> bool {
        self.is_refusal() && !self.is_permission()
    }

    fn is_refusal(&self) -> bool {
        matches!(&self.0, Cause::Program(error) if matches!(**error, Program::LoadError { .. }))
    }

    /// Returns the cause in the system's words.
    pub(crate) fn cause(&self) -> String {
        self.0.to_string()
    }

    /// Returns true if loading or attaching was refused and the caller lacks a capability. The
    /// verifier also reports "permission denied" for programs that it refuses to every caller.
    /// Without CAP_PERFMON the verifier follows more paths, and may give up because of their
    /// number.
    pub fn is_permission(&self) -> bool {
        (self.is_denied() || self.is_refusal()) && !missing_rights().is_empty()
    }

    fn is_denied(&self) -> bool {
        self.system().is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Returns the system's error, if one is the cause.
    pub fn system(&self) -> Option<&io::Error> {
        let error: &(dyn Error + 'static) = match &self.0 {
            Cause::Object(error) => error,
            Cause::Program(error) => &**error,
            Cause::System(error) => error,
        };
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// Returns an error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns the texts of an error and of its causes. Leaves out a text with which the text before it
/// ends.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in chain(error).map(ToString::to_string) {
        if !texts.last().is_some_and(|last| last.ends_with(text.as_str())) {
            texts.push(text);
        }
    }
    texts
}

/// The capabilities that loading the engine takes, with their names.
const RIGHTS: [(CapabilitySet, &str); 4] = [
    (CapabilitySet::BPF, "CAP_BPF"),
    (CapabilitySet::PERFMON, "CAP_PERFMON"),
    (CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN"),
    (CapabilitySet::NET_RAW, "CAP_NET_RAW"),
];

/// Returns the names of the capabilities that this thread lacks to load the engine.
pub(crate) fn missing_rights() -> Vec<&'static str> {
    let own = rustix::thread::capabilities(None).map(|sets| sets.effective);
    let own = own.unwrap_or(CapabilitySet::empty());
    RIGHTS.iter().filter(|(right, _)| !own.contains(*right)).map(|(_, name)| *name).collect()
}

/// Returns a text on the capabilities that loading the engine takes. It names the missing ones, or
/// says that this thread needs them outside of a user namespace.
pub(crate) fn rights_in_words() -> String {
    match missing_rights().as_slice() {
        [] => "the rights of root outside of a user namespace, as containers have one".to_owned(),
        [one] => format!("the right {one}, as root has it"),
        [before @ .., last] => {
            format!("the rights {} and {last}, as root has them", before.join(", "))
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the kernel does not take the schedule engine: ")?;
        if self.is_permission() {
            write!(f, "it takes {}: ", rights_in_words())?;
        }
        self.0.fmt(f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Object(error) => f.write_str(&causes(error).join(": ")),
            Cause::Program(error) => match &**error {
                Program::LoadError { io_error, verifier_log } => {
                    write!(f, "{io_error}; the verifier says:\n{verifier_log}")
                }
                error => write!(f, "{error}"),
            },
            Cause::System(error) => write!(f, "{error}"),
        }
    }
}

impl Error for LoadError {}

impl From<EbpfError> for LoadError {
    fn from(error: EbpfError) -> Self {
        Self(Cause::Object(error))
    }
}

impl From<ProgramError> for LoadError {
    fn from(error: ProgramError) -> Self {
        Self(Cause::Program(Box::new(error)))
    }
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self(Cause::System(error))
    }
}
