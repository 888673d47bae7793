//! Finds out if this kernel can run schedules, by a trial.

use crate::error::{LoadError, causes, rights_in_words};
use crate::install::Installation;
use crate::kernel::{Hook, Kernel, ON_REALTIME, is_realtime, loaded};
use crate::sys::own_namespace;
use crate::ticker::{Ticker, Ticks};
use aya::maps::MapType;
use aya::programs::ProgramType;
use aya::sys::{is_map_supported, is_program_supported};
use aya::util::KernelVersion;
use std::error::Error;
use std::time::Duration;
use std::{fmt, io};

/// A missing part of the system that schedules in the kernel need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The name of the missing part.
    pub what: &'static str,
    /// The capability or kernel option that provides the part.
    pub remedy: String,
    /// The system's own words.
    pub cause: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.what, self.remedy, self.cause)
    }
}

/// The means by which this kernel runs schedules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The hooks that will be used.
    pub hook: Hook,
    /// The reason why ticks come from a thread of the launcher; `None` if frames circle in the
    /// kernel.
    pub no_circle: Option<String>,
}

impl Offer {
    /// Returns the way in which ticks will come.
    pub fn ticks(&self) -> Ticks {
        if self.no_circle.is_none() { Ticks::Circle } else { Ticks::Thread }
    }
}

/// Finds out if the kernel can run the engine. It loads the engine, attaches it to an interface in
/// a network namespace of its own, lets frames circle there, and drops everything. The verifier
/// takes about half a second for the engine. Without the right to make a namespace, the hooks
/// follow from the version of the kernel.
///
/// # Errors
/// The most basic thing that is missing.
pub fn probe() -> Result<Offer, Missing> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err(Missing {
            what: "a processor that reads words at any address",
            remedy: "use x86-64 or arm64".into(),
            cause: std::env::consts::ARCH.into(),
        });
    }
    if is_realtime() {
        return Err(Missing {
            what: "a kernel without CONFIG_PREEMPT_RT",
            remedy: "start another one".into(),
            cause: ON_REALTIME.into(),
        });
    }
    let has_programs = is_program_supported(ProgramType::SchedClassifier);
    need(has_programs, "classifier programs", "the kernel option CONFIG_NET_CLS_BPF")?;
    need(is_map_supported(MapType::Array), "array maps", "the kernel option CONFIG_BPF_SYSCALL")?;
    let trial = std::thread::scope(|scope| scope.spawn(trial).join());
    let trial = trial.unwrap_or_else(|_| Err(Failure::Namespace("the thread panicked".into())));
    let no_circle = match trial {
        Ok(offer) => return Ok(offer),
        Err(Failure::Load(error)) => return Err(refused(&error)),
        Err(Failure::Namespace(why)) => format!("CAP_SYS_ADMIN for a network namespace ({why})"),
    };
    loaded(&Installation::smallest().image()).map_err(|error| refused(&error))?;
    let has_tcx =
        KernelVersion::current().is_ok_and(|version| version >= KernelVersion::new(6, 6, 0));
    let hook = if has_tcx { Hook::Tcx } else { Hook::Clsact };
    Ok(Offer { hook, no_circle: Some(no_circle) })
}

/// The reason why a trial did not take place, or failed.
enum Failure {
    Namespace(String),
    Load(LoadError),
}

/// Attaches the engine in a network namespace of the calling thread's own. The namespace ends with
/// the thread.
fn trial() -> Result<Offer, Failure> {
    own_namespace().map_err(|error| Failure::Namespace(error.to_string()))?;
    let installation = Installation::smallest();
    let kernel = Kernel::load("lo", &installation, None).map_err(Failure::Load)?;
    let ticker = Ticker::start_as(&kernel, &installation, TRIAL_PERIOD, Ticks::Circle);
    let no_circle = ticker.err().map(|error| match kernel.hook() {
        Hook::Tcx => format!("the kernel options CONFIG_VETH and CONFIG_NET_SCH_TBF ({error})"),
        Hook::Clsact => error.to_string(),
    });
    Ok(Offer { hook: kernel.hook(), no_circle })
}

/// The time between two ticks of the trial.
const TRIAL_PERIOD: Duration = Duration::from_millis(1);

fn refused(error: &LoadError) -> Missing {
    let remedy = match error.is_permission() {
        true => rights_in_words(),
        false => "Linux 5.17 or later, for bpf_loop".into(),
    };
    Missing { what: "the engine", remedy, cause: error.cause() }
}

/// Turns the answer of a probe into an error, unless the answer is yes.
fn need<E: Error + 'static>(
    answer: Result<bool, E>,
    what: &'static str,
    option: &'static str,
) -> Result<(), Missing> {
    let remedy = || option.to_owned();
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(Missing { what, remedy: remedy(), cause: "the kernel has none".into() }),
        Err(error) => {
            let first: &(dyn Error + 'static) = &error;
            let mut all = std::iter::successors(Some(first), |&error| error.source());
            let system = all.find_map(|error| error.downcast_ref::<io::Error>());
            let is_denied = system.is_some_and(|e| e.kind() == io::ErrorKind::PermissionDenied);
            let remedy = if is_denied { rights_in_words() } else { remedy() };
            Err(Missing { what, remedy, cause: causes(&error).join(": ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_cause_and_the_way_out() {
        let no: io::Result<bool> = Ok(false);
        let missing = need(no, "classifier programs", "the option").unwrap_err();
        assert_eq!(missing.to_string(), "classifier programs: the option (the kernel has none)");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let missing = need(Err(denied), "classifier programs", "the option").unwrap_err();
        assert!(missing.to_string().contains("right"), "{missing}");
        let absent = io::Error::from(io::ErrorKind::Unsupported);
        let missing = need(Err(absent), "array maps", "the option").unwrap_err();
        assert_eq!(missing.to_string(), "array maps: the option (unsupported)");
        assert!(need(Ok::<_, io::Error>(true), "", "").is_ok());
    }

    #[test]
    fn the_probe_ends() {
        match probe() {
            Ok(offer) => println!("{:?}, ticks from {}", offer.hook, offer.ticks()),
            Err(missing) => println!("{missing}"),
        }
    }
}
