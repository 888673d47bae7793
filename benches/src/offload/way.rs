//! The ways in which a rank of this program calls an operation.

use super::Operation;
use super::contestant::Contestant;
use super::rounds::Case;
use super::udp::Udp;
use goal::{Arguments, Buffer, CollectiveKind, Group, Op, Schedule};
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_cluster::INTERFACE;
use goal_collectives::{ALGORITHMS, Request};
use goal_esp::wire::{ETHERTYPE_ESP, Mac};
use goal_eth::Interface;
use goal_kernel::limits::fragment_of;
use goal_kernel::{Installation, Job, Kernel, Peer, Plan, Rank, Ticker};
use goal_lang::limits::Limits;
use goal_lang::{Datatype, Function, ProgramBuilder};
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

/// The time after which a call counts as lost.
const LIMIT: Duration = Duration::from_secs(10);
/// The time between two ticks, as with goal-run.
const TICK: Duration = Duration::from_millis(1);

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

/// The engine in the kernel of this rank's host.
pub(super) struct InKernel {
    rank: Rank,
    bytes: Vec<u8>,
    _ticker: Ticker,
    _kernel: Kernel,
}

impl Way {
    /// Opens a way.
    ///
    /// # Errors
    /// The error of the way.
    pub(super) fn open(by: Contestant, case: &Case, setting: &Setting<'_>) -> io::Result<Self> {
        match by {
            Contestant::Kernel => Ok(Self::Kernel(Box::new(in_kernel(case, setting)?))),
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
            Self::Kernel(kernel) => kernel.call(operands).map(Some),
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

fn in_kernel(case: &Case, setting: &Setting<'_>) -> io::Result<InKernel> {
    let ranks = setting.macs.len() as u32;
    let (kind, algorithm) = match case.operation {
        Operation::Barrier => (CollectiveKind::Barrier, "dissemination"),
        Operation::Allreduce => (CollectiveKind::Allreduce, "recursive-doubling"),
    };
    let datatype = Datatype::UInt64;
    let function = Function::Predefined(Op::Sum, datatype);
    let count = case.bytes / 8;
    let request = Request { count, datatype, function, ..Request::new(kind, ranks) };
    let algorithm = ALGORITHMS.iter().find(|a| a.kind == kind && a.name == algorithm);
    let algorithm = algorithm.ok_or_else(|| io::Error::other("no such algorithm"))?;
    let mut builder = ProgramBuilder::default();
    for rank in 0..ranks {
        builder.rank_with(algorithm.body(&request, rank).map_err(io::Error::other)?);
    }
    let mut file = Vec::new();
    encode(&builder.finish(), &EncodeOptions::default(), None, &mut file)
        .map_err(io::Error::other)?;
    let nisa = Nisa::load(Arc::new(file), &Limits::default()).map_err(io::Error::other)?;
    let fragment =
        fragment_of(setting.mtu).ok_or_else(|| io::Error::other("frames are too short"))?;
    let plan = Plan::of(&nisa, fragment)
        .map_err(|refused| io::Error::other(format!("{:?}", refused.first())))?;
    let interface = Interface::among(&Interface::all()?, INTERFACE).map_err(io::Error::other)?;
    let peers = setting.macs.iter().map(|mac| Peer { mac: mac.0, port: 0 }).collect();
    let mut installation = Installation::new(Job {
        // No secrets: all hosts are namespaces of this benchmark.
        number: 0x00ff_10ad,
        key: [3, 5],
        secrets: [7 + u64::from(setting.rank), 11],
        ethertype: ETHERTYPE_ESP,
        ifindex: interface.index,
        mac: setting.macs[setting.rank as usize].0,
        peers,
    })
    .map_err(io::Error::other)?;
    let all: Vec<u32> = (0..ranks).collect();
    let members = installation.add(&plan, &all).map_err(io::Error::other)?;
    let kernel = Kernel::load(INTERFACE, &installation, None)
        .map_err(|error| io::Error::other(error.to_string()))?;
    let ticker = Ticker::start(&kernel, &installation, TICK)?;
    let [(_, member)] = members.as_slice() else { return Err(io::Error::other("not one rank")) };
    let rank = Rank::new(kernel.rank(member)?, *member)?;
    let bytes = vec![0; rank.len()];
    Ok(InKernel { rank, bytes, _ticker: ticker, _kernel: kernel })
}

impl InKernel {
    fn call(&mut self, operands: &mut [u64]) -> io::Result<u64> {
        let bytes = &mut self.bytes[..operands.len() * 8];
        for (bytes, operand) in bytes.chunks_exact_mut(8).zip(&*operands) {
            bytes.copy_from_slice(&operand.to_ne_bytes());
        }
        self.rank.write(0, bytes);
        self.rank.start()?;
        if !self.rank.wait(LIMIT).map_err(io::Error::other)? {
            return Err(io::Error::other("the run does not end"));
        }
        self.rank.read(0, bytes);
        for (bytes, operand) in bytes.chunks_exact(8).zip(operands) {
            *operand = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        }
        Ok(self.rank.ended_ns())
    }
}
