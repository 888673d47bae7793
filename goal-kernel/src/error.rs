//! The error of a kernel that does not take the engine.

use aya::programs::ProgramError;
use aya::{EbpfError, programs::ProgramError as Program};
use rustix::thread::CapabilitySet;
use std::{fmt, io};

/// The engine could not be loaded or attached.
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
        let Cause::Program(error) = &self.0 else { return false };
        matches!(**error, Program::LoadError { .. }) && !self.is_permission()
    }

    /// Returns true if the caller lacks a right. The verifier says "permission denied" too, of
    /// programs that it refuses whoever loads them.
    pub fn is_permission(&self) -> bool {
        self.is_denied() && !has_rights()
    }

    fn is_denied(&self) -> bool {
        let mut source: Option<&(dyn std::error::Error + 'static)> = match &self.0 {
            Cause::Object(error) => Some(error),
            Cause::Program(error) => Some(&**error),
            Cause::System(error) => Some(error),
        };
        while let Some(error) = source {
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return error.kind() == io::ErrorKind::PermissionDenied;
            }
            source = error.source();
        }
        false
    }
}

/// Returns true if this thread has the rights that loading takes.
fn has_rights() -> bool {
    use CapabilitySet as Set;
    let needed = Set::BPF | Set::PERFMON | Set::NET_ADMIN | Set::NET_RAW;
    rustix::thread::capabilities(None).is_ok_and(|own| own.effective.contains(needed))
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the kernel does not take the schedule engine: ")?;
        if self.is_permission() {
            f.write_str(
                "it needs CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW (run the launcher as root): ",
            )?;
        }
        match &self.0 {
            Cause::Object(error) => write!(f, "{error}"),
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

impl std::error::Error for LoadError {}

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
