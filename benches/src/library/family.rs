//! The families of MPI libraries, and how each is told where ranks run and how they talk.

use crate::job::list;

/// The way between ranks on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    SharedMemory,
    /// Connections over the loopback interface, as if each rank were on a host of its own.
    Tcp,
}

/// The families of libraries, which differ in the flags of their `mpirun`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    OpenMpi4,
    OpenMpi5,
    Mpich,
    Intel,
}

impl Family {
    /// Recognises the family from what `mpirun --version` prints.
    pub(super) fn from_version(text: &str) -> Option<Self> {
        if let Some((_, version)) = text.split_once("(Open MPI) ") {
            let major: u32 = version.split('.').next()?.parse().ok()?;
            return Some(if major < 5 { Family::OpenMpi4 } else { Family::OpenMpi5 });
        }
        if text.contains("Intel(R) MPI") {
            return Some(Family::Intel);
        }
        text.contains("HYDRA").then_some(Family::Mpich)
    }

    /// Returns settings in which collectives between ranks on one host may be faster than as
    /// installed, each with a name. `has` tells if Open MPI has a component.
    pub(super) fn tuned(self, has: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
        // The components of Open MPI for shared memory, whose priority is 0 as installed.
        let components = ["xhc", "acoll", "sm"];
        let of_component = |name: &'static str| {
            let words = format!("--mca coll_{name}_priority 100");
            has(&format!("coll:{name}")).then_some((name, words))
        };
        match self {
            Family::OpenMpi4 | Family::OpenMpi5 => {
                components.into_iter().filter_map(of_component).collect()
            }
            Family::Mpich => {
                let of = |operation| {
                    format!("MPIR_CVAR_{operation}_POSIX_INTRA_ALGORITHM=release_gather")
                };
                let words = ["BARRIER", "BCAST", "REDUCE", "ALLREDUCE"].map(of).join(" ");
                vec![("release-gather", words)]
            }
            Family::Intel => {
                let shm = "I_MPI_COLL_INTRANODE=shm";
                vec![("shm", shm.to_owned()), ("auto", format!("{shm} I_MPI_TUNING_MODE=auto"))]
            }
        }
    }

    pub(super) fn default_name(self) -> &'static str {
        match self {
            Family::OpenMpi4 => "Open MPI 4",
            Family::OpenMpi5 => "Open MPI 5",
            Family::Mpich => "MPICH",
            Family::Intel => "Intel MPI",
        }
    }

    /// Returns the variables and flags for ranks on this machine: each bound to its processor, or
    /// free. Ranks that share processors give theirs away while they wait.
    pub(super) fn placement(
        self,
        over: Over,
        processors: Option<&[u32]>,
        crowded: bool,
    ) -> (Vec<(&'static str, String)>, Vec<String>) {
        let (mut variables, mut flags) = self.transport(over);
        let mut flag = |text: &str| flags.extend(text.split_whitespace().map(str::to_owned));
        let bound = processors.map(list);
        match self {
            Family::OpenMpi4 | Family::OpenMpi5 => {
                flag("--allow-run-as-root");
                flag(match (&bound, crowded, self) {
                    (Some(_), false, _) => "--map-by core --bind-to core",
                    (Some(_), true, Family::OpenMpi4) => {
                        "--oversubscribe --map-by core --bind-to core:overload-allowed"
                    }
                    (None, _, Family::OpenMpi4) => "--oversubscribe --bind-to none",
                    // It would bind neighbours to the same processor: the program binds itself.
                    (_, _, _) => "--map-by :OVERSUBSCRIBE --bind-to none",
                });
                if crowded {
                    flag("--mca mpi_yield_when_idle 1");
                }
            }
            Family::Mpich => {
                flag(&format!(
                    "-bind-to {}",
                    bound.map_or("none".to_owned(), |of| format!("user:{of}"))
                ));
            }
            Family::Intel => {
                variables.push(match bound {
                    Some(list) => ("I_MPI_PIN_PROCESSOR_LIST", list),
                    None => ("I_MPI_PIN", "0".to_owned()),
                });
                if crowded {
                    variables.push(("I_MPI_WAIT_MODE", "1".to_owned()));
                }
            }
        }
        (variables, flags)
    }

    /// Returns the variables and flags for the way between ranks.
    pub(super) fn transport(self, over: Over) -> (Vec<(&'static str, String)>, Vec<String>) {
        let (variables, flags): (&[_], &str) = match (self, over) {
            (Family::OpenMpi4, Over::SharedMemory) => (&[], "--mca btl self,vader"),
            // A component of Open MPI 5 prints an error with each window.
            (Family::OpenMpi5, Over::SharedMemory) => (&[], "--mca btl self,sm --mca osc ^ucx"),
            (Family::OpenMpi4, Over::Tcp) => (
                &[],
                "--mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo",
            ),
            (Family::OpenMpi5, Over::Tcp) => {
                (&[], "--mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include lo --mca osc ^ucx")
            }
            (Family::Mpich, Over::SharedMemory) => (&[("MPIR_CVAR_CH4_NETMOD", "ofi")], ""),
            (Family::Mpich, Over::Tcp) => (
                &[
                    ("MPIR_CVAR_CH4_NETMOD", "ofi"),
                    ("MPIR_CVAR_NOLOCAL", "1"),
                    ("FI_PROVIDER", "tcp"),
                    ("FI_TCP_IFACE", "lo"),
                ],
                "",
            ),
            (Family::Intel, Over::SharedMemory) => (&[("I_MPI_FABRICS", "shm")], ""),
            // Its collectives would use shared memory all the same.
            (Family::Intel, Over::Tcp) => (
                &[
                    ("I_MPI_FABRICS", "ofi"),
                    ("I_MPI_OFI_PROVIDER", "tcp"),
                    ("I_MPI_COLL_INTRANODE", "pt2pt"),
                    ("FI_TCP_IFACE", "lo"),
                ],
                "",
            ),
        };
        let variables = variables.iter().map(|&(name, value)| (name, value.to_owned()));
        (variables.collect(), flags.split_whitespace().map(str::to_owned).collect())
    }
}

/// Returns the version in what `mpirun --version` prints.
pub(super) fn version(text: &str) -> String {
    let mut behind = ["(Open MPI) ", "Version: ", "Version "].into_iter().filter_map(|word| {
        let (_, rest) = text.split_once(word)?;
        rest.split(|c: char| c == ',' || c.is_whitespace()).find(|word| !word.is_empty())
    });
    behind.next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Family, Over, version};

    #[test]
    fn families_are_recognised() {
        let family = |text: &str| Family::from_version(text);
        assert_eq!(family("mpirun (Open MPI) 4.1.4\n\nReport bugs"), Some(Family::OpenMpi4));
        assert_eq!(family("mpirun (Open MPI) 5.0.11\n"), Some(Family::OpenMpi5));
        assert_eq!(family("HYDRA build details:\n    Version: 5.0.2"), Some(Family::Mpich));
        let intel = "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626";
        assert_eq!(family(intel), Some(Family::Intel));
        assert_eq!(family("mpiexec of nobody knows"), None);
        assert_eq!(version("mpirun (Open MPI) 5.0.11\n"), "5.0.11");
        assert_eq!(version("HYDRA build details:\n    Version:           5.0.2\n"), "5.0.2");
        assert_eq!(version(intel), "2021.18.1");
    }

    #[test]
    fn only_components_that_are_there_are_tuned() {
        let tuned = Family::OpenMpi5.tuned(|component| component == "coll:sm");
        assert_eq!(tuned, [("sm", "--mca coll_sm_priority 100".to_owned())]);
        assert_eq!(Family::Mpich.tuned(|_| false).len(), 1);
    }

    #[test]
    fn shared_memory_is_off_over_tcp() {
        for family in [Family::OpenMpi4, Family::OpenMpi5, Family::Mpich, Family::Intel] {
            let (variables, flags) = family.placement(Over::Tcp, Some(&[0, 1]), false);
            let flags = flags.join(" ");
            let has = |name: &str, value: &str| {
                variables.contains(&(name, value.to_owned()))
                    || flags.contains(&format!("--mca {name} {value}"))
            };
            let is_off = match family {
                Family::OpenMpi4 | Family::OpenMpi5 => has("btl", "self,tcp"),
                Family::Mpich => has("MPIR_CVAR_NOLOCAL", "1") && has("FI_PROVIDER", "tcp"),
                Family::Intel => has("I_MPI_FABRICS", "ofi") && has("I_MPI_OFI_PROVIDER", "tcp"),
            };
            assert!(is_off, "{family:?}: {variables:?} {flags}");
        }
    }
}
