//! A schedule in the kernel of this host, which is a network namespace with one rank.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_cluster::INTERFACE;
use goal_esp::wire::{ETHERTYPE_ESP, Mac};
use goal_eth::Interface;
use goal_kernel::limits::fragment_of;
use goal_kernel::{Installation, Job, Kernel, Peer, Plan, Rank, Ticker};
use goal_lang::Program;
use goal_lang::limits::Limits;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The time after which a run counts as lost.
const LIMIT: Duration = Duration::from_secs(10);
/// The time between two ticks, as with goal-run.
const TICK: Duration = Duration::from_millis(1);

/// The engine in the kernel of this rank's host, and the rank's side.
pub(crate) struct InKernel {
    rank: Rank,
    _ticker: Ticker,
    _kernel: Kernel,
}

/// Translates a program for kernels.
///
/// # Errors
/// They do not take it.
pub(crate) fn plan(program: &Program, mtu: u32) -> io::Result<Plan> {
    let mut file = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut file).map_err(io::Error::other)?;
    let nisa = Nisa::load(Arc::new(file), &Limits::default()).map_err(io::Error::other)?;
    let fragment = fragment_of(mtu).ok_or_else(|| io::Error::other("frames are too short"))?;
    Plan::of(&nisa, fragment).map_err(|refused| io::Error::other(refused[0].to_string()))
}

impl InKernel {
    /// Loads the engine with the rank's part of a program.
    ///
    /// # Errors
    /// The kernel does not take the engine, or the engine not the program.
    pub(crate) fn open(program: &Program, rank: u32, macs: &[Mac], mtu: u32) -> io::Result<Self> {
        let plan = plan(program, mtu)?;
        let interface =
            Interface::among(&Interface::all()?, INTERFACE).map_err(io::Error::other)?;
        let mut installation = Installation::new(Job {
            // No secrets: all hosts are namespaces of this benchmark.
            number: 0x00ff_10ad,
            key: [3, 5],
            secrets: [7 + u64::from(rank), 11],
            ethertype: ETHERTYPE_ESP,
            ifindex: interface.index,
            mac: macs[rank as usize].0,
            peers: macs.iter().map(|mac| Peer { mac: mac.0, port: 0 }).collect(),
        })
        .map_err(io::Error::other)?;
        let all: Vec<u32> = (0..macs.len() as u32).collect();
        let members = installation.add(&plan, &all).map_err(io::Error::other)?;
        let [(_, member)] = members.as_slice() else {
            return Err(io::Error::other("the host has not one rank"));
        };
        let kernel = Kernel::load(INTERFACE, &installation, None)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let ticker = Ticker::start(&kernel, &installation, TICK)?;
        let rank = Rank::new(kernel.rank(member)?, *member)?;
        Ok(Self { rank, _ticker: ticker, _kernel: kernel })
    }

    /// Writes the beginning of the rank's memory and starts a run.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn start(&mut self, memory: &[u8]) -> io::Result<()> {
        self.rank.write(0, memory);
        self.rank.start()
    }

    /// Returns true if the run has ended.
    ///
    /// # Errors
    /// An action has failed.
    pub(crate) fn test(&self) -> io::Result<bool> {
        self.rank.test().map_err(io::Error::other)
    }

    /// Sleeps until the run has ended.
    ///
    /// # Errors
    /// An action has failed, or the run does not end.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        match self.rank.wait(LIMIT).map_err(io::Error::other)? {
            true => Ok(()),
            false => Err(io::Error::other("the run does not end")),
        }
    }

    /// Reads the beginning of the rank's memory.
    pub(crate) fn read(&self, memory: &mut [u8]) {
        self.rank.read(0, memory);
    }

    /// The bytes of the rank's memory.
    pub(crate) fn len(&self) -> usize {
        self.rank.len()
    }

    /// The time at which the run ended in the kernel.
    pub(crate) fn ended_ns(&self) -> u64 {
        self.rank.ended_ns()
    }
}
