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
use super::spec::{SpecArguments, after};
use super::tune::Tune;
use super::values::{Format, RanksAs, THREADS, choice, number, refuse_mpi};
use clap::{ArgAction, Args, Parser, Subcommand};
use goal_asm::nisa::StreamLimits;
use goal_asm::nisa::limits::{TABLE_ENTRIES_MAX, WINDOW_ACTION_BYTES_MAX};
use goal_job::Window;
use goal_job::transport::{Choice, RequestError};
use goal_launch::{Options, Ranks};
use goalc::driver::{
    self, Color, Completions, Deny, Emit, FindingArguments, InputArguments, Man, PassArguments,
    bytes,
};
use std::path::PathBuf;

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

/// The positions in the help of `-n` and `-O`, and of the options for files with results.
/// Subcommands and the arguments before `-n` have the positions below. Arguments with the same
/// position are in alphabetical order.
const RANKS: usize = 16;
const RESULTS: usize = 600;

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
        allow_negative_numbers = true, display_order = RANKS,
    )]
    pub(crate) ranks: Option<u32>,
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
    #[command(flatten)]
    pub(crate) hosts: HostsArguments,
    #[command(flatten)]
    pub(crate) settings: SpecArguments,
    #[command(flatten, next_display_order = 500, next_help_heading = None::<&str>)]
    pub(crate) of_schedules: ScheduleArguments,
    /// How the report is written: text, or one JSON object on standard output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Print the counts of every rank: messages by their way, unexpected ones, the longest queues,
    /// polls and sleeps
    #[arg(long, display_order = RESULTS + 1)]
    pub(crate) stats: bool,
}

/// The arguments that only runs of schedules have.
#[derive(Args)]
pub(crate) struct ScheduleArguments {
    /// Passes that a text goes through: 0 keeps its actions, 1 merges and drops some, 2 also
    /// restricts their order and splits messages [default: 1]
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2), display_order = RANKS)]
    pub(crate) level: Option<u8>,
    /// Compare the memory and the matching of the last instance with the reference interpreter's
    #[arg(long, display_order = after("repeat"))]
    pub(crate) verify: bool,
    /// Read every rank's schedule through a window of so many actions, instead of holding it whole:
    /// for schedules that are larger than memory. It must be laid out in order, and in windows so
    /// as to need little (goalc build --passes 'window(64)')
    #[arg(long, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=1 << 24), conflicts_with = "verify", display_order = after("repeat"))]
    window: Option<u32>,
    /// Leave out the checks of the whole program
    #[arg(long = "no-check", action = ArgAction::SetFalse)]
    check: bool,
    /// Findings that count as errors
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    #[command(flatten)]
    findings: FindingArguments,
    /// Write the memory that each rank ends with to DIR/rank-N.bin
    #[arg(long, value_name = "DIR", display_order = RESULTS)]
    pub(crate) dump: Option<PathBuf>,
    /// Write a trace of all actions as Chrome trace events, for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE", display_order = RESULTS)]
    pub(crate) trace: Option<PathBuf>,
    /// Most actions beyond a window whose dependencies a rank counts
    #[arg(long, value_name = "N", default_value_t = TABLE_ENTRIES_MAX, help_heading = "Limits", display_order = after("max-segment"))]
    max_table: usize,
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
    /// Returns the size of the window and the limits on reading ahead. Returns `None` if the user
    /// asks for no window.
    pub(crate) fn window(&self) -> Option<(u32, StreamLimits)> {
        let limits = StreamLimits {
            table_entries: self.of_schedules.max_table,
            action_bytes: WINDOW_ACTION_BYTES_MAX,
        };
        self.of_schedules.window.map(|size| (size, limits))
    }

    /// Returns the largest message that programs push. It is 0 if the user gave an eager limit.
    /// Schedules push no messages, as their check knows only the eager limit.
    pub(crate) fn pushed_max(&self) -> u64 {
        if self.settings.has("eager-limit") { 0 } else { goal_engine::Options::PUSHED_MAX }
    }

    /// Returns the options for reading and checking the schedule.
    pub(crate) fn driver(&self) -> driver::Options {
        let (spec, of_schedules) = (&self.settings.spec, &self.of_schedules);
        let passes = PassArguments {
            level: of_schedules.level,
            passes: None,
            machine: driver::MachineArguments { machine: None },
        };
        of_schedules.findings.apply(driver::Options {
            // Only lists of passes and names of machines can be wrong, and this command line has
            // none.
            pipeline: passes.pipeline(Emit::Nisa, spec.eager_limit).unwrap_or_default(),
            check: of_schedules.check,
            ranks: self.ranks,
            checks: driver::CheckOptions {
                eager_limit: spec.eager_limit,
                unexpected_limit: spec.unexpected_limit,
                ..driver::CheckOptions::default()
            },
            deny_warnings: of_schedules.deny.is_some(),
            ..self.input.options()
        })
    }

    /// Returns whether ranks are processes or threads.
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

    /// Returns an error if the user asks for the transport MPI in a job without MPI.
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
            spec: self.settings.spec.clone(),
            pushed_max: 0,
            ranks: match self.ranks_as() {
                RanksAs::Processes => Ranks::Processes { executable: "/proc/self/exe".into() },
                RanksAs::Threads => Ranks::Threads,
            },
            transports,
            record: self.of_schedules.verify,
            traces: self.of_schedules.trace.is_some(),
            window,
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
