//! `goal-run info`: lists all transports, the transports that a run would use and why, and the
//! interfaces.

use super::hints;
use super::interfaces::{self, aligned};
use super::output::{Failure, print};
use super::values::{Format, choice};
use clap::Args;
use goal_engine::InstructionSet;
use goal_engine::transport::{Distance, ZeroCopy};
use goal_job::Offload;
use goal_job::binding::{Bind, Binding, list, num_processors};
use goal_job::limits::STARTED_RANKS_MAX;
use goal_job::transport::{Choice, Name, Standing, priority_variable};
use goal_launch::report::json;
use goal_shm::{LOCAL_PAYLOAD_MAX, SHORT_MAX, ptrace_scope};
use goal_shm::{Layout, RankSizes, Segment};
use goalc::driver::{self, Options};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// The arguments of `goal-run info`.
#[derive(Args)]
pub(crate) struct Info {
    /// A program, to see whether its ranks would share processors
    #[arg(value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Transports to use, or with a leading ^ those not to use [env: GOAL_TRANSPORT]
    #[arg(long, value_name = "LIST")]
    transport: Option<String>,
    /// Processors of ranks, as for a run
    #[arg(long, value_name = "core|none|LIST", default_value = "core")]
    bind: Bind,
    /// How it is written: text, or one JSON object
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The number of ranks to assume if no program is given.
const RANKS: u32 = 2;

/// The output of the command.
#[derive(Serialize)]
struct Report {
    /// The transports, in the order of preference.
    transports: Vec<Row>,
    /// The transports of messages, from the nearest ranks to the farthest.
    paths: Vec<Path>,
    /// The transport by which the system copies large payloads that can't be read in place. `None`
    /// if there is none.
    copies: Option<Name>,
    /// The number of ranks of the program. `None` if no program is given.
    ranks: Option<u32>,
    processors: usize,
    /// True if ranks share processors. `None` if no program is given.
    crowded: Option<bool>,
    /// The processors to which the ranks would be bound now. `None` if they would not be bound, or
    /// if no program is given.
    bound_to: Option<Vec<u32>>,
    /// The reason why the ranks would not be bound. `None` if they would be, or if no program is
    /// given.
    unbound: Option<String>,
    /// The value of Yama's `ptrace_scope`. `None` without Yama.
    ptrace_scope: Option<u8>,
    /// The instruction set that local operations use.
    instructions: String,
    /// The hooks at which the kernel can run schedules. `None` if it can't run them.
    offload: Option<&'static str>,
    /// What the kernel lacks for running schedules, and how to get it. `None` if it lacks nothing.
    offload_missing: Option<String>,
    /// The source of ticks, at which the kernel asks for lost frames. `None` if it can't run
    /// schedules.
    offload_ticks: Option<String>,
    /// What the kernel lacks for ticks that need no process, and how to get it. `None` if it lacks
    /// nothing.
    offload_ticks_missing: Option<String>,
    /// The interfaces, ascending by their numbers. Empty if the system does not list them.
    interfaces: Vec<interfaces::Row>,
}

#[derive(Serialize)]
struct Row {
    name: Name,
    about: &'static str,
    priority: u32,
    /// The environment variable that sets the priority of the transport. `None` for the default.
    priority_from: Option<String>,
    reach: Distance,
    /// The most bytes of a message that needs no preparation, and of any message. `None` if the
    /// transport carries no messages, or if this is not known.
    short_max: Option<usize>,
    bcopy_max: Option<usize>,
    zero_copy: ZeroCopy,
    latency_ns: u32,
    bandwidth_mb_s: u32,
    /// The reason why the transport is not used. `None` if it may be used.
    refused: Option<String>,
}

#[derive(Serialize)]
struct Path {
    reach: Distance,
    transport: Option<Name>,
    why: String,
}

/// Prints the information and returns the exit status 0.
pub(crate) fn run(info: &Info) -> Result<u8, Failure> {
    let choice =
        choice(info.transport.as_deref()).map_err(|error| Failure::System(error.to_string()))?;
    let ranks = match info.inputs.as_slice() {
        [] => None,
        inputs => {
            let options = Options { check: false, ..Options::default() };
            Some(driver::compile(inputs, &options)?.nisa.num_ranks())
        }
    };
    let binding = ranks.map(|ranks| Binding::new(&info.bind, ranks)).transpose();
    let binding = binding.map_err(|error| Failure::System(hints::explain(&error.into())))?;
    let report = report(&choice, ranks, binding.as_ref());
    let text = match info.format {
        Format::Json => json(&report),
        Format::Text => text(&report),
    };
    Ok(print(&text, 0))
}

fn report(choice: &Choice, ranks: Option<u32>, binding: Option<&Binding>) -> Report {
    let processors = binding.map(Binding::processors);
    let limits = Limits::of(ranks.unwrap_or(RANKS));
    let (offered, offload_missing) = match Offload::probe() {
        Ok(offered) => (Some(offered), None),
        Err(missing) => (None, Some(missing)),
    };
    Report {
        transports: choice.standings().iter().map(|standing| row(standing, &limits)).collect(),
        paths: Distance::ALL.map(|reach| path(choice, reach)).into(),
        copies: choice.copies(Distance::Node),
        ranks,
        processors: num_processors(),
        crowded: ranks.zip(binding).map(|(ranks, binding)| binding.is_crowded(ranks)),
        bound_to: processors.and_then(Result::ok).map(<[u32]>::to_vec),
        unbound: processors.and_then(Result::err).map(ToString::to_string),
        ptrace_scope: ptrace_scope(),
        instructions: InstructionSet::in_use().to_string(),
        offload: offered.as_ref().map(|offered| offered.hooks),
        offload_missing,
        offload_ticks: offered.as_ref().map(|offered| offered.ticks.clone()),
        offload_ticks_missing: offered.and_then(|offered| offered.no_circle),
        interfaces: interfaces::rows(),
    }
}

fn row(standing: &Standing, limits: &Limits) -> Row {
    let plugin = standing.name.plugin();
    let (short_max, bcopy_max) = limits.of_transport(standing.name).unzip();
    Row {
        name: standing.name,
        about: plugin.about,
        priority: standing.priority,
        priority_from: standing.is_set.then(|| priority_variable(standing.name)),
        reach: plugin.reach,
        short_max,
        bcopy_max,
        zero_copy: plugin.zero_copy,
        latency_ns: plugin.latency_ns,
        bandwidth_mb_s: plugin.bandwidth_mb_s,
        refused: standing.refusal.as_ref().map(ToString::to_string),
    }
}

/// Returns the transport for ranks at a distance, with the reasons against others.
fn path(choice: &Choice, reach: Distance) -> Path {
    let transport = choice.messages(reach);
    let mut why = match transport {
        Some(name) => match choice.standings().iter().find(|standing| standing.name == name) {
            Some(standing) if standing.is_set => {
                format!("{}={}", priority_variable(name), standing.priority)
            }
            standing => format!("priority {}", standing.map_or(0, |standing| standing.priority)),
        },
        None => "nothing is left".to_owned(),
    };
    for (name, refusal) in choice.refused(reach) {
        let _ = write!(why, "; {name} is {refusal}");
    }
    Path { reach, transport, why }
}

/// The sizes of the largest short message and of the largest message of each transport, in bytes.
/// `None` if they are not known.
struct Limits {
    local: Option<(usize, usize)>,
    shm: Option<(usize, usize)>,
}

impl Limits {
    /// Returns the limits in a job of `ranks` ranks, computed from the layout of its segment.
    fn of(ranks: u32) -> Self {
        let sizes = vec![RankSizes::default(); ranks.clamp(1, STARTED_RANKS_MAX) as usize];
        let layout = Layout::new(sizes.into_iter(), u64::MAX).ok();
        let segment = layout.and_then(|layout| Segment::create(layout).ok());
        let Some(segment) = segment else { return Self { local: None, shm: None } };
        let peer = segment.num_ranks() - 1;
        let shm = segment.endpoint(0).payload_max(peer);
        Self { local: Some((LOCAL_PAYLOAD_MAX, LOCAL_PAYLOAD_MAX)), shm: Some((SHORT_MAX, shm)) }
    }

    fn of_transport(&self, name: Name) -> Option<(usize, usize)> {
        match name {
            Name::Local => self.local,
            Name::Shm => self.shm,
            Name::Cma => None,
            Name::Esp => Some((goal_eth::SHORT_MAX, goal_eth::MESSAGE_MAX)),
            Name::Tcp => Some((goal_tcp::MESSAGE_MAX, goal_tcp::MESSAGE_MAX)),
            Name::Mpi => Some((goal_mpi::MESSAGE_MAX, goal_mpi::MESSAGE_MAX)),
        }
    }
}

const COLUMNS: [&str; 8] =
    ["transport", "priority", "reaches", "short", "messages", "large payloads", "us, MB/s", "use"];

fn text(report: &Report) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    for row in &report.transports {
        let bytes = |bytes: Option<usize>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
        rows.push([
            row.name.to_string(),
            row.priority.to_string(),
            reach(row.reach).to_owned(),
            bytes(row.short_max),
            bytes(row.bcopy_max),
            match row.zero_copy {
                ZeroCopy::None => "-",
                ZeroCopy::Mapped => "read in place",
                ZeroCopy::Copied => "copied",
            }
            .to_owned(),
            format!("{}, {}", f64::from(row.latency_ns) / 1e3, row.bandwidth_mb_s),
            row.refused.clone().unwrap_or("yes".to_owned()),
        ]);
    }
    let mut text = aligned(&rows);
    text.push('\n');
    for Path { reach: distance, transport, why } in &report.paths {
        let transport = transport.map_or("none".to_owned(), |name| name.to_string());
        let _ = writeln!(text, "messages to {}: {transport} ({why})", reach(*distance));
    }
    let copies = match report.copies {
        Some(name) => format!("copied by {name}"),
        None => "in messages".to_owned(),
    };
    let _ = writeln!(text, "large payloads outside the segment: {copies}");
    let _ = writeln!(text, "instruction set of local operations: {}", report.instructions);
    let plural = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let _ = write!(text, "{}", plural(report.processors, "processor", "processors"));
    if let (Some(ranks), Some(crowded)) = (report.ranks, report.crowded) {
        let have = match (crowded, ranks) {
            (true, _) => "would share them",
            (false, 1) => "would have one",
            (false, _) => "would have one each",
        };
        let _ = write!(text, "; {} {have}", plural(ranks as usize, "rank", "ranks"));
        let _ = match (&report.bound_to, &report.unbound) {
            (Some(bound_to), _) if !crowded => {
                write!(text, ", in the order of ranks: {}", list(bound_to))
            }
            (None, Some(why)) if !crowded => write!(text, ", but not be bound: {why}"),
            _ => Ok(()),
        };
    }
    if let Some(scope) = report.ptrace_scope {
        let _ = write!(text, "; kernel.yama.ptrace_scope = {scope}");
    }
    let _ = match (&report.offload, &report.offload_missing) {
        (Some(hooks), _) => {
            let ticks = report.offload_ticks.as_deref().unwrap_or("unknown");
            let missing = report.offload_ticks_missing.as_ref();
            let missing = missing.map(|missing| format!("; to do without it takes {missing}"));
            write!(
                text,
                "\nschedules in the kernel (--offload): yes, at {hooks}, with ticks from {ticks}{}",
                missing.unwrap_or_default()
            )
        }
        (None, missing) => {
            let missing = missing.as_deref().unwrap_or("unknown");
            write!(text, "\nschedules in the kernel (--offload): no, it lacks {missing}")
        }
    };
    if !report.interfaces.is_empty() {
        let _ = write!(text, "\n\n{}", interfaces::table(&report.interfaces).trim_end());
    }
    text
}

fn reach(distance: Distance) -> &'static str {
    match distance {
        Distance::Own => "oneself",
        Distance::Node => "the node",
        Distance::Network => "other hosts",
    }
}
