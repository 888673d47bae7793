//! The applications, their sizes, and the ways in which they use MPI.
//!
//! The examples of libgoal are the programs. Those of MPI are the same files with the functions of
//! `benches/mpi/` in the place of the calls of libgoal.

use crate::library::Source;

/// An application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Application {
    /// Conjugate gradients: a gathered vector, and sums of single numbers
    Cg,
    /// A sort of integers: sums of counts, and keys from each rank to each other one
    Is,
    /// A stencil on a grid: messages to neighbours beside the computation
    Halo,
}

/// The size of a problem, as in the NAS Parallel Benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
pub(crate) enum Size {
    /// Small
    S,
    /// For a workstation
    W,
    /// The smallest that the NAS benchmarks measure
    A,
}

impl Size {
    pub(super) const ALL: [Size; 3] = [Size::S, Size::W, Size::A];

    /// Returns the name, also as the programs take it.
    pub(super) fn name(self) -> &'static str {
        ["S", "W", "A"][self as usize]
    }
}

const CG: &str = include_str!("../../../examples/c/cg.c");
const IS: &str = include_str!("../../../examples/c/is.c");
const HALO: &str = include_str!("../../../examples/c/halo.c");

const WITH_CG: &str = "-DCOMMUNICATION=\"cg.h\"";
const WITH_IS: &str = "-DCOMMUNICATION=\"is.h\"";
const WITH_HALO: &str = "-DCOMMUNICATION=\"halo.h\"";

impl Application {
    pub(super) const ALL: [Application; 3] = [Application::Cg, Application::Is, Application::Halo];

    pub(super) fn name(self) -> &'static str {
        ["cg", "is", "halo"][self as usize]
    }

    /// Returns the number of iterations that take about some tenths of a second.
    pub(super) fn iterations(self, size: Size) -> u32 {
        let of = match self {
            Application::Cg => [300, 15, 4],
            Application::Is => [2000, 100, 8],
            Application::Halo => [30_000, 1500, 60],
        };
        of[size as usize]
    }

    /// Returns the program of libgoal.
    pub(super) fn program(self) -> Source {
        match self {
            Application::Cg => Source::example("cg", CG, &[]),
            Application::Is => Source::example("is", IS, &[]),
            Application::Halo => Source::example("halo", HALO, &[]),
        }
    }

    /// Returns the ways in which a program uses MPI, with their names.
    pub(super) fn ways(self) -> Vec<(&'static str, Source)> {
        match self {
            Application::Cg => vec![
                ("blocking", Source::example("cg-blocking", CG, &[WITH_CG])),
                (
                    "non-blocking",
                    Source::example("cg-nonblocking", CG, &[WITH_CG, "-DNONBLOCKING"]),
                ),
                ("messages", Source::example("cg-messages", CG, &[WITH_CG, "-DMESSAGES"])),
            ],
            Application::Is => vec![
                ("blocking", Source::example("is-blocking", IS, &[WITH_IS])),
                (
                    "non-blocking",
                    Source::example("is-nonblocking", IS, &[WITH_IS, "-DNONBLOCKING"]),
                ),
                ("messages", Source::example("is-messages", IS, &[WITH_IS, "-DMESSAGES"])),
            ],
            Application::Halo => vec![
                ("datatypes", Source::example("halo-datatypes", HALO, &[WITH_HALO])),
                ("packed", Source::example("halo-packed", HALO, &[WITH_HALO, "-DPACKED"])),
            ],
        }
    }
}
