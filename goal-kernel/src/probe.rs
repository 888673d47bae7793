//! Finds out by trying if this kernel runs schedules.

use crate::install::{Installation, MapImage};
use crate::job::{Job, Peer};
use crate::kernel::{Hook, loaded};
use aya::maps::MapType;
use aya::programs::ProgramType;
use aya::sys::{is_map_supported, is_program_supported};
use aya::util::KernelVersion;
use std::fmt;

/// A part of the system that schedules in the kernel need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The part.
    pub what: &'static str,
    /// The right or the option of the kernel that gives it.
    pub remedy: &'static str,
    /// The system's own words.
    pub cause: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.what, self.remedy, self.cause)
    }
}

/// The offer of a kernel that runs schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The hooks that will be used, by the kernel's version. Loading tries both.
    pub hook: Hook,
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hook = match self.hook {
            Hook::Tcx => "TCX",
            Hook::Clsact => "clsact",
        };
        write!(f, "schedules run in the kernel, at {hook}")
    }
}

/// Finds out if the kernel takes the engine: loads it, attached to nothing, and drops it. That
/// takes the verifier about half a second.
///
/// # Errors
/// The most basic thing that is missing.
pub fn probe() -> Result<Offer, Missing> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err(Missing {
            what: "a processor that reads words at any address",
            remedy: "use x86-64 or arm64",
            cause: std::env::consts::ARCH.into(),
        });
    }
    let has_programs = is_program_supported(ProgramType::SchedClassifier);
    need(has_programs, "classifier programs", "the kernel option CONFIG_NET_CLS_BPF")?;
    need(is_map_supported(MapType::Array), "array maps", "the kernel option CONFIG_BPF_SYSCALL")?;
    loaded(&smallest()).map_err(|error| Missing {
        what: "the engine",
        remedy: if error.is_permission() { RIGHTS } else { "Linux 5.17 or later, for bpf_loop" },
        cause: error.to_string(),
    })?;
    let has_tcx =
        KernelVersion::current().is_ok_and(|version| version >= KernelVersion::new(6, 6, 0));
    Ok(Offer { hook: if has_tcx { Hook::Tcx } else { Hook::Clsact } })
}

const RIGHTS: &str =
    "the rights CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW, as root has them";

/// Turns the answer of a probe into an error, unless it is yes.
fn need<E: fmt::Display>(
    answer: Result<bool, E>,
    what: &'static str,
    remedy: &'static str,
) -> Result<(), Missing> {
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(Missing { what, remedy, cause: "the kernel has none".into() }),
        Err(error) => Err(Missing { what, remedy: RIGHTS, cause: error.to_string() }),
    }
}

/// The smallest maps.
pub(crate) fn smallest() -> MapImage {
    let peer = Peer { mac: [0; 6], port: 0 };
    let job = Job {
        number: 0,
        key: [0; 2],
        secrets: [0; 2],
        ethertype: 0,
        ifindex: 0,
        mac: [0; 6],
        peers: vec![peer],
    };
    Installation::new(job).expect("one rank").image()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_cause_and_the_way_out() {
        let no: Result<bool, String> = Ok(false);
        let missing = need(no, "classifier programs", "the option").unwrap_err();
        assert_eq!(missing.to_string(), "classifier programs: the option (the kernel has none)");
        let denied: Result<bool, String> = Err("Operation not permitted".into());
        let missing = need(denied, "classifier programs", "the option").unwrap_err();
        assert!(missing.to_string().contains("CAP_BPF"), "{missing}");
        assert!(need(Ok::<_, String>(true), "", "").is_ok());
    }

    #[test]
    fn the_probe_ends() {
        match probe() {
            Ok(offer) => println!("{offer}"),
            Err(missing) => println!("{missing}"),
        }
    }
}
