//! Benchmarks of the toolchain, each beside its peer in one run: `cargo run --release -p goal-bench
//! -- NAME`.
//!
//! Whole commands are timed from outside and interleaved with their peer; what is quoted is the
//! median. Start with `--help`; `benches/README.md` says what each figure means.

#[macro_use]
mod say;

mod apps;
mod assemble;
mod collectives;
mod compile;
mod connections;
mod costs;
mod engine;
mod esp;
mod frames;
mod generate;
mod growth;
mod host_jobs;
mod host_peer;
mod hosts;
mod idle;
mod instructions;
mod job;
mod late;
mod library;
mod local;
mod measure;
mod member;
mod memory_group;
mod message;
mod mpi;
mod offload;
mod overlap;
mod passes;
mod pingpong;
mod plot;
mod preload;
mod shape;
mod sim;
mod size;
mod table;
mod tcp;
mod trace;
mod window;

use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "goal-bench", about = "Benchmarks of the GOAL toolchain beside its peers")]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Write a large program as text
    Generate(generate::Args),
    /// Write a trace of any size in LogGOPSim's binary form
    Trace(trace::Args),
    /// goalc build beside `wc -w` on the same file: MB/s, peak memory, one thread and two
    Compile(compile::Args),
    /// Size of the NISA beside LogGOPSim's binary form
    Size(size::Args),
    /// goal-sim in each of its models beside LogGOPSim and the simulator in ATLAHS
    Sim(sim::Args),
    /// Nanoseconds an action on local actions only, beside a walk over an array
    Engine(engine::Args),
    /// Local operations as schedules, beside a plain loop over the same buffers
    Local(local::Args),
    /// Half round trip between two ranks
    Pingpong(pingpong::Args),
    /// Round trip of raw frames between two network namespaces, beside UDP and TCP over the same
    /// wire
    Frames(frames::Args),
    /// Messages over ESP between two network namespaces: round trips and bandwidth, beside raw
    /// frames, UDP and TCP over the same wire
    Esp(esp::Args),
    /// Programs on several hosts whose switch loses, doubles, delays or damages frames: verified,
    /// with the time each took
    Hosts(hosts::Args),
    /// Barrier, allreduce and gather on hosts of their own over ESP and over TCP, beside MPI over
    /// TCP between the same hosts
    Collectives(collectives::Args),
    /// Latency and bandwidth between two ranks over TCP that have many other connections
    Connections(connections::Args),
    /// Barriers and allreduces in the kernels of hosts, beside processes over ESP, over UDP and
    /// with MPI over TCP: median and 99th percentile, idle and busy
    Offload(offload::Args),
    /// One rank of `offload`
    #[command(hide = true)]
    OffloadRank(offload::RankArgs),
    /// Ping-pong, barrier and collectives, as schedules and as calls of libgoal, beside MPI's
    /// blocking, non-blocking and persistent calls, on 2 and 4 ranks
    Mpi(mpi::Args),
    /// OSU's and Intel's benchmarks of MPI, unmodified, natively and with libgoal-mpi.so preloaded
    Preload(preload::Args),
    /// Applications in C (conjugate gradients, a sort, a stencil) with libgoal and with MPI, which
    /// share all of the computation
    Apps(apps::Args),
    /// Ping-pong, barrier and collectives over TCP on this machine, as calls of libgoal, beside MPI
    /// libraries over TCP
    Tcp(tcp::Args),
    /// Nanoseconds of GOAL_Run, GOAL_Test and GOAL_Wait in a program in C
    Library(costs::Args),
    /// Instructions of calls of libgoal and of MPI libraries, locked ones among them
    Instructions(instructions::Args),
    /// One rank of `mpi`
    #[command(hide = true)]
    MpiRank(mpi::RankArgs),
    /// An allreduce beside a matrix product: what it costs the program, without and with calls,
    /// beside MPI_Iallreduce
    Overlap(overlap::Args),
    /// One rank of `overlap`
    #[command(hide = true)]
    OverlapRank(overlap::RankArgs),
    /// One rank of `overlap` whose schedule is in the kernel
    #[command(hide = true)]
    OverlapKernelRank(overlap::KernelRankArgs),
    /// The raw data of `overlap` or `connections` as a picture
    Plot(plot::Args),
    /// Time that ranks wait for one that computes, compared with MPI_Iallreduce
    Late(late::Args),
    /// One rank of `late`
    #[command(hide = true)]
    LateRank(late::RankArgs),
    /// A job that grows while two ranks exchange messages: latency with and without room for more
    /// ranks, the times of growth and its memory
    Growth(growth::Args),
    /// One rank of `growth`
    #[command(hide = true)]
    GrowthRank(growth::RankArgs),
    /// Processor time of ranks that wait for a message which comes after ten seconds
    Idle(idle::Args),
    /// A chain broadcast and an alltoall without and with passes that split and order messages,
    /// predicted and measured
    Shape(shape::Args),
    /// A schedule larger than the memory that a cgroup leaves it, run through a window and whole
    Window(window::Args),
    /// Every pass and the checks on large programs: time, memory, actions and dependencies
    Passes(passes::Args),
    /// One step of `passes`, in this process
    #[command(hide = true)]
    Pass(passes::StepArgs),
    /// Time one command and print its figures as JSON (used by the others, one process a
    /// measurement)
    #[command(hide = true)]
    Measure(measure::Args),
}

fn main() -> ExitCode {
    let bench = Cli::parse().bench;
    let result = say::written(|| match bench {
        Bench::Generate(args) => generate::run(&args),
        Bench::Trace(args) => trace::run(&args),
        Bench::Compile(args) => compile::run(&args),
        Bench::Size(args) => size::run(&args),
        Bench::Sim(args) => sim::run(&args),
        Bench::Engine(args) => engine::run(&args),
        Bench::Local(args) => local::run(&args),
        Bench::Pingpong(args) => pingpong::run(&args),
        Bench::Frames(args) => frames::run(&args),
        Bench::Hosts(args) => hosts::run(&args),
        Bench::Esp(args) => esp::run(&args),
        Bench::Collectives(args) => collectives::run(&args),
        Bench::Connections(args) => connections::run(&args),
        Bench::Offload(args) => offload::run(&args),
        Bench::OffloadRank(args) => offload::run_rank(&args),
        Bench::Instructions(args) => instructions::run(&args),
        Bench::Preload(args) => preload::run(&args),
        Bench::Apps(args) => apps::run(&args),
        Bench::Tcp(args) => tcp::run(&args),
        Bench::Library(args) => costs::run(&args),
        Bench::Mpi(args) => mpi::run(&args),
        Bench::MpiRank(args) => mpi::run_rank(&args),
        Bench::Overlap(args) => overlap::run(&args),
        Bench::OverlapRank(args) => overlap::run_rank(&args),
        Bench::OverlapKernelRank(args) => overlap::run_kernel_rank(&args),
        Bench::Plot(args) => plot::run(&args),
        Bench::Late(args) => late::run(&args),
        Bench::LateRank(args) => late::run_rank(&args),
        Bench::Growth(args) => growth::run(&args),
        Bench::GrowthRank(args) => growth::run_rank(&args),
        Bench::Idle(args) => idle::run(&args),
        Bench::Shape(args) => shape::run(&args),
        Bench::Window(args) => window::run(&args),
        Bench::Passes(args) => passes::run(&args),
        Bench::Pass(args) => passes::run_step(&args),
        Bench::Measure(args) => measure::run(&args),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error takes nothing, nobody can be told.
            let _ = writeln!(io::stderr(), "goal-bench: {error}");
            ExitCode::from(2)
        }
    }
}
