//! Defines the command line of `goal-run`.

use super::answer::Answer;
use super::attended::Signals;
use super::grow::Grow;
use super::hints::explain;
use super::hosts::HostsArguments;
use super::info::Info;
use super::key::KeyArguments;
use super::output::warn;
use super::ping::Ping;
use super::tune::Tune;
use super::values::{Format, RanksAs, THREADS, calc, choice, number, refuse_mpi, seconds};
use clap::{ArgAction, Parser, Subcommand};
use goal_asm::nisa::StreamLimits;
use goal_asm::nisa::limits::{TABLE_ENTRIES_MAX, WINDOW_ACTION_BYTES_MAX};
use goal_engine::Calc;
use goal_job::Offload;
use goal_job::binding::Bind;
use goal_job::limits::{
    PREFAULT_BYTES_MAX, SEGMENT_BYTES_MAX, STARTED_RANKS_MAX, TRACE_EVENTS_MAX, VERIFIED_BYTES_MAX,
};
use goal_job::transport::{Choice, Found, ParameterError, Parameters, RequestError, Tuned};
use goal_job::{Mode, Stuck, Wait, Window};
use goal_launch::{Options, Ranks};
use goal_run::named;
use goalc::driver::{
    self, Color, Completions, Deny, Emit, FindingArguments, InputArguments, Man, PassArguments,
    bytes,
};
use std::path::PathBuf;
use std::time::Duration;

const USAGE: &str = "goal-run [OPTIONS] <IN>...
       goal-run -n <N> [OPTIONS] [--] <PROGRAM> [ARGUMENTS]...
       goal-run <COMMAND>";

const HELP: &str = "\
Examples:
  goal-run examples/paper-example-2.goal --verify    run and compare with the interpreter
  goal-run trace.nisa --calc skip                    only messages, no computation
  goal-run ring.goal --repeat 1000 --format json     a thousand instances, one JSON object
  goal-run -n 4 ./solver --steps 100                 four processes of a program that uses the library
  goal-run grow 4711 -n 2                            two more ranks for the job of that goal-run
  goal-run info --transport ^cma                     what a run would use, and why
  goal-run answer --interface eth0                   on one host, and on another
  goal-run ping 02:00:00:00:00:01 --interface eth0   how long a frame takes there and back
  goal-run key job.key                               make a key, to be copied to all hosts, and on each of them
  goal-run ring.goal --interface eth0 --key job.key --discover --hosts 4
  goal-run big.goal --ranks-as threads --dump out    ranks as threads; their memory in out/rank-N.bin

Exit status:
  0  done; warnings don't change that
  1  the input is wrong, an action failed, an expectation is not met or the verification failed
  2  the command line is wrong, or the system failed
  3  stuck: no rank could go on
  4  a rank died, or a host was lost; of a program the rank's own status, 128 + N after signal N
  5  the time was up
  128 + N  ended by signal N (INT, TERM, HUP)";

/// Execute a GOAL schedule on ranks that are processes or threads of this machine or of several on
/// an Ethernet, or start a program whose processes are the ranks
///
/// A file of machine code (ELF) or one that begins with #! is a program, and so is the name of one
/// in PATH. What follows it are its arguments.
#[derive(Parser)]
#[command(
    name = "goal-run",
    version,
    after_help = "Exit status: 0 done, 1 wrong input or result, 2 command line or system, 3 stuck, 4 a rank died, 5 time up.",
    after_long_help = HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = USAGE
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// When to colour reports
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// Number of ranks, also as -np: of a program, the processes that are started; a schedule has
    /// its own
    #[arg(
        short = 'n', long, alias = "np", value_name = "N", value_parser = number,
        allow_negative_numbers = true,
    )]
    pub(crate) ranks: Option<u32>,
    /// Passes that a text goes through: 0 keeps its actions, 1 merges and drops some, 2 also
    /// restricts their order and splits messages [default: 1]
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) level: Option<u8>,
    /// Bytes that each rank of a program can allocate from the memory that ranks share, which takes
    /// memory where it is written [default: 1G, less if the ranks are many]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) heap: Option<u64>,
    /// Most ranks that a program's job on this host has room for as it grows (goal-run grow,
    /// GOAL_Spawn); ranks that are not there take no memory [default: 64 more than at the start,
    /// less if they could allocate more than 16 GiB]
    #[arg(long, value_name = "N")]
    pub(crate) grow_to: Option<u32>,
    /// Kind of ranks [default: processes]
    #[arg(long, value_enum)]
    ranks_as: Option<RanksAs>,
    /// Transports to use, or with a leading ^ those not to use (goal-run info lists them); auto:
    /// all; threads: the same, and --ranks-as threads [env: GOAL_TRANSPORT]
    #[arg(long, value_name = "LIST")]
    transport: Option<String>,
    /// How a rank's schedule makes progress while the rank computes
    #[arg(long, value_parser = named::<Mode>(), default_value = "caller")]
    progress: Mode,
    /// Run the schedule of a job on several hosts in their kernels, while the ranks' processes
    /// sleep or compute, or the processes
    #[arg(long, value_parser = named::<Offload>(), default_value = "off")]
    offload: Offload,
    /// How a rank waits
    #[arg(long, value_parser = named::<Wait>(), default_value = "adaptive")]
    wait: Wait,
    /// Processors of ranks: core (a core for each rank, if there are enough that no other job
    /// holds), none (ranks are not bound), or a list for the ranks of this host in their order
    #[arg(long, value_name = "core|none|LIST", default_value = "core")]
    bind: Bind,
    /// Let the other ranks of a program go on if one is killed or exits early: they learn of it by
    /// GOAL_ERR_RANK_LOST and call GOAL_Comm_shrink
    #[arg(long)]
    pub(crate) survive: bool,
    /// Treatment of a program's job in which nothing moves for S seconds, though threads in no call
    /// of the library may still act: tell who waits for what, or end it [default: tell,10]
    #[arg(long, value_name = "tell|end[,S]")]
    pub(crate) stuck: Option<Stuck>,
    /// How calc passes the time: spin (as long as it says), skip, or a factor of that
    #[arg(long, value_name = "spin|skip|SCALE", default_value = "spin", value_parser = calc)]
    calc: Calc,
    /// Instances to run, one after the other without a barrier
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    pub(crate) repeat: u64,
    /// Compare the memory and the matching of the last instance with the reference interpreter's
    #[arg(long)]
    pub(crate) verify: bool,
    /// Read every rank's schedule through a window of so many actions, instead of holding it whole:
    /// for schedules that are larger than memory. It must be laid out in order, and in windows so
    /// as to need little (goalc build --passes 'window(64)')
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=1 << 24), conflicts_with = "verify")]
    window: Option<u32>,
    /// End the run after so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Largest message that is sent before its receive is there [default: 16384, or what GOAL_TABLE
    /// has]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    eager_limit: Option<u64>,
    /// Most bytes of a ring between two ranks of a host, a power of two [default: 1048576, or what
    /// GOAL_TABLE has]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    ring: Option<u64>,
    /// Most bytes of messages that a rank keeps for receives to come
    #[arg(long, value_name = "BYTES", default_value_t = goal_engine::Options::UNEXPECTED_LIMIT, value_parser = bytes)]
    unexpected_limit: u64,
    /// Leave out the checks of the whole program
    #[arg(long = "no-check", action = ArgAction::SetFalse)]
    check: bool,
    /// Findings that count as errors
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    #[command(flatten)]
    findings: FindingArguments,
    /// How the report is written: text, or one JSON object on standard output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Write the memory that each rank ends with to DIR/rank-N.bin
    #[arg(long, value_name = "DIR")]
    pub(crate) dump: Option<PathBuf>,
    /// Write a trace of all actions as Chrome trace events, for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Print the counts of every rank: messages by their way, unexpected ones, the longest queues,
    /// polls and sleeps
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) hosts: HostsArguments,
    /// Most records of a trace, 32 bytes each, all ranks together; the last ones of each rank are
    /// kept
    #[arg(long, value_name = "N", default_value_t = TRACE_EVENTS_MAX, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    trace_max: u64,
    /// Most ranks that are started
    #[arg(long, value_name = "N", default_value_t = STARTED_RANKS_MAX, help_heading = "Limits")]
    pub(crate) max_started: u32,
    /// Most bytes of the memory that ranks share
    #[arg(long, value_name = "BYTES", default_value_t = SEGMENT_BYTES_MAX, value_parser = bytes, help_heading = "Limits")]
    max_segment: u64,
    /// Most actions beyond a window whose dependencies a rank counts
    #[arg(long, value_name = "N", default_value_t = TABLE_ENTRIES_MAX, help_heading = "Limits")]
    max_table: usize,
    /// Most bytes of its memory that a rank makes resident before it starts
    #[arg(long, value_name = "BYTES", default_value_t = PREFAULT_BYTES_MAX, value_parser = bytes, help_heading = "Limits")]
    max_prefault: u64,
    /// Most bytes of memory of all ranks together that are compared with the interpreter's
    #[arg(long, value_name = "BYTES", default_value_t = VERIFIED_BYTES_MAX, value_parser = bytes, help_heading = "Limits")]
    max_verified: u64,
}

/// The subcommands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show the transports that there are, which ones a run would use, and why; and the network
    /// interfaces
    Info(Info),
    /// Tell how long a frame takes to a host on the same Ethernet and back (EDP echo); exit status
    /// 1 if an answer is missing
    Ping(Ping),
    /// Answer the echoes of goal-run ping
    Answer(Answer),
    /// Measure the algorithms of collectives on ranks of this host, and write a table of decisions
    Tune(Tune),
    /// Start more ranks of a job that runs on this host; they wait until its program accepts them
    Grow(Grow),
    /// Make a key for jobs on several hosts
    Key(KeyArguments),
    /// Start the launcher of this host as the one of another host says (goal-run --hosts)
    #[command(hide = true)]
    Launcher,
    /// Write the completions of a shell to standard output
    Completions(Completions),
    /// Write the manual pages into a folder
    Man(Man),
}

impl Arguments {
    /// Returns the size of the window, if one is requested, and the limits on reading ahead.
    pub(crate) fn window(&self) -> Option<(u32, StreamLimits)> {
        let limits =
            StreamLimits { table_entries: self.max_table, action_bytes: WINDOW_ACTION_BYTES_MAX };
        self.window.map(|size| (size, limits))
    }

    /// Takes the parameters of transports that a measurement has found. Those of the command line
    /// are stronger.
    ///
    /// # Errors
    /// [`ParameterError`].
    pub(crate) fn take(&mut self, tuned: Tuned) -> Result<(), ParameterError> {
        let found = if self.hosts.are_named() { tuned.several_hosts } else { tuned.one_host };
        let found = found.unwrap_or_default();
        self.eager_limit = self.eager_limit.or(found.eager_limit);
        self.ring = self.ring.or(found.ring_bytes);
        self.hosts.initial_burst = self.hosts.initial_burst.or(found.initial_burst);
        self.hosts.burst = self.hosts.burst.or(found.burst);
        self.parameters().checked().map(drop)
    }

    /// Returns the parameters of transports that are not the defaults, by their options.
    pub(crate) fn tuned(&self) -> Vec<(&'static str, u64)> {
        let all = [("eager-limit", self.eager_limit), ("ring", self.ring)];
        all.into_iter().filter_map(|(long, value)| Some((long, value?))).collect()
    }

    fn eager_limit(&self) -> u64 {
        self.eager_limit.unwrap_or(goal_engine::Options::EAGER_LIMIT)
    }

    /// Returns the largest message that programs push: none if the eager limit is given. Schedules
    /// push none, as their check knows the eager limit only.
    pub(crate) fn pushed_max(&self) -> u64 {
        if self.eager_limit.is_none() { goal_engine::Options::PUSHED_MAX } else { 0 }
    }

    fn parameters(&self) -> Parameters {
        let (initial_burst, burst) = (self.hosts.initial_burst, self.hosts.burst);
        Found { ring_bytes: self.ring, initial_burst, burst, ..Found::default() }.parameters()
    }

    /// Returns the options for reading and checking the program.
    pub(crate) fn driver(&self) -> driver::Options {
        let passes = PassArguments {
            level: self.level,
            passes: None,
            machine: driver::MachineArguments { machine: None },
        };
        self.findings.apply(driver::Options {
            // Only lists of passes and machines may be wrong.
            pipeline: passes.pipeline(Emit::Nisa, self.eager_limit()).unwrap_or_default(),
            check: self.check,
            ranks: self.ranks,
            checks: driver::CheckOptions {
                eager_limit: self.eager_limit(),
                unexpected_limit: self.unexpected_limit,
                ..driver::CheckOptions::default()
            },
            deny_warnings: self.deny.is_some(),
            ..self.input.options()
        })
    }

    /// Returns the kind of ranks.
    pub(crate) fn ranks_as(&self) -> RanksAs {
        match (self.ranks_as, self.transport.as_deref()) {
            (Some(ranks_as), _) => ranks_as,
            (None, Some(THREADS)) => RanksAs::Threads,
            (None, _) => RanksAs::Processes,
        }
    }

    /// Returns the transports that may be used, in the order of preference.
    pub(crate) fn transports(&self) -> Result<Choice, RequestError> {
        choice(self.transport.as_deref())
    }

    /// Returns the error if MPI is to carry messages in a job without it.
    pub(crate) fn refuse_mpi(&self) -> Result<(), String> {
        refuse_mpi(self.transport.as_deref())
    }

    /// Returns the options of the launcher.
    pub(crate) fn launcher(
        &self,
        transports: Choice,
        window: Option<Window>,
        Signals { interrupted, forwarded, suspended }: Signals,
    ) -> Options {
        Options {
            engine: goal_engine::Options {
                eager_limit: self.eager_limit(),
                unexpected_limit: self.unexpected_limit,
                calc: self.calc,
                ..goal_engine::Options::default()
            },
            parameters: self.parameters(),
            ranks: match self.ranks_as() {
                RanksAs::Processes => Ranks::Processes { executable: "/proc/self/exe".into() },
                RanksAs::Threads => Ranks::Threads,
            },
            transports,
            progress: self.progress,
            offload: self.offload,
            wait: self.wait,
            survives: self.survive,
            stuck: self.stuck.unwrap_or_default(),
            bind: self.bind.clone(),
            repeat: self.repeat,
            record: self.verify,
            trace_events: self.trace.as_ref().map(|_| self.trace_max),
            window,
            timeout: self.timeout,
            segment_bytes_max: self.max_segment,
            prefault_bytes_max: self.max_prefault,
            verified_bytes_max: self.max_verified,
            ranks_max: self.max_started,
            reserve: 0,
            must_grow: false,
            gives_up_rights: true,
            interrupted,
            forwarded,
            suspended,
            tell: warn,
            explain,
            show: |stage| driver::show_stage(&stage.to_string()),
        }
    }
}
