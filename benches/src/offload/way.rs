//! The ways in which a rank of this program calls an operation.

use super::Operation;
use super::contestant::Contestant;
use super::kernel::InKernel;
use super::rounds::Case;
use super::udp::Udp;
use goal::{Arguments, Buffer, CollectiveKind, Group, Op, Schedule};
use goal_collectives::{ALGORITHMS, Request};
use goal_esp::wire::Mac;
use goal_lang::{Datatype, Function, Program};
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use zerocopy::IntoBytes;

/// The place of a rank.
pub(super) struct Setting<'a> {
    pub(super) rank: u32,
    pub(super) macs: &'a [Mac],
    pub(super) ips: &'a [Ipv4Addr],
    pub(super) mtu: u32,
}

/// A way, which is open.
pub(super) enum Way {
    Kernel(Box<InKernel>),
    Esp { group: Group, schedule: Schedule, memory: Option<Buffer<u64>> },
    Udp(Udp),
}

impl Way {
    /// Opens a way.
    ///
    /// # Errors
    /// The error of the way.
    pub(super) fn open(by: Contestant, case: &Case, setting: &Setting<'_>) -> io::Result<Self> {
        match by {
            Contestant::Kernel => {
                let program = program(case, setting.macs.len() as u32)?;
                InKernel::open(&program, setting.rank, setting.macs, setting.mtu)
                    .map(|kernel| Self::Kernel(Box::new(kernel)))
            }
            Contestant::Esp => esp(case).map_err(io::Error::other),
            Contestant::Udp => Udp::open(case.operation, setting).map(Self::Udp),
            Contestant::Mpi => Err(io::Error::other("ranks of MPI are started by mpirun")),
        }
    }

    /// Returns the rank's number; `host` is its host's.
    pub(super) fn rank(&self, host: u32) -> u32 {
        match self {
            Self::Esp { group, .. } => group.rank(),
            _ => host,
        }
    }

    /// Calls the operation on the operands. Returns the time at which the result was in memory, if
    /// that is known and is not the time of the return.
    ///
    /// # Errors
    /// The error of the way.
    pub(super) fn call(&mut self, round: u32, operands: &mut [u64]) -> io::Result<Option<u64>> {
        match self {
            Self::Kernel(kernel) => {
                kernel.start(operands.as_bytes())?;
                kernel.wait()?;
                kernel.read(operands.as_mut_bytes());
                Ok(Some(kernel.ended_ns()))
            }
            Self::Esp { schedule, memory, .. } => {
                if let Some(memory) = memory {
                    memory.write().map_err(io::Error::other)?.copy_from_slice(operands);
                }
                let run = schedule.run().map_err(io::Error::other)?;
                run.wait().map_err(io::Error::other)?;
                if let Some(memory) = memory {
                    operands.copy_from_slice(&memory.read().map_err(io::Error::other)?);
                }
                Ok(None)
            }
            Self::Udp(udp) => udp.call(round, operands).map(|()| None),
        }
    }

    /// Ends the way.
    ///
    /// # Errors
    /// The error of the way.
    pub(super) fn close(self) -> io::Result<()> {
        match self {
            // Ranks that are late ask this one's kernel for what was lost.
            Self::Kernel(_) => std::thread::sleep(Duration::from_millis(50)),
            Self::Esp { group, schedule, memory } => {
                drop((schedule, memory));
                group.finalize().map_err(io::Error::other)?;
            }
            Self::Udp(_) => {}
        }
        Ok(())
    }
}

fn esp(case: &Case) -> goal::Result<Way> {
    let group = Group::init()?;
    let count = case.bytes as usize / 8;
    let is_barrier = case.operation == Operation::Barrier;
    let memory = (!is_barrier).then(|| group.zeros::<u64>(count)).transpose()?;
    let kind = if is_barrier { CollectiveKind::Barrier } else { CollectiveKind::Allreduce };
    let output = memory.as_ref();
    let arguments = Arguments { kind, count, op: Op::Sum, root: 0, input: None, output };
    let schedule = group.collective(group.world(), &arguments)?;
    Ok(Way::Esp { group, schedule, memory })
}

/// Returns the program that the kernels run.
fn program(case: &Case, ranks: u32) -> io::Result<Program> {
    let (kind, name) = match case.operation {
        Operation::Barrier => (CollectiveKind::Barrier, "dissemination"),
        Operation::Allreduce => (CollectiveKind::Allreduce, "recursive-doubling"),
    };
    let datatype = Datatype::UInt64;
    let function = Function::Predefined(Op::Sum, datatype);
    let count = case.bytes / 8;
    let request = Request { count, datatype, function, ..Request::new(kind, ranks) };
    let algorithm = ALGORITHMS.iter().find(|a| a.kind == kind && a.name == name);
    let algorithm = algorithm.ok_or_else(|| io::Error::other("no such algorithm"))?;
    algorithm.program(&request).map_err(io::Error::other)
}
