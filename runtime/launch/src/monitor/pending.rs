//! Reports on the unfinished actions of a job, and on ranks that another process has stopped.

use super::cycle::cycles;
use super::snapshot::{Observed, Snapshot, Vertex, Wait};
use goal_job::JobSpec;
use goal_lang::ANY;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The most actions, or ranks of a program, that a report lists. Further ones are only counted.
pub(super) const SHOWN_MAX: usize = 20;
/// The most actions that one line names.
const NAMED_MAX: usize = 4;

/// The report on unfinished actions, of a job or of one of its ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pending {
    /// The number of unfinished actions.
    pub(crate) actions: u64,
    /// The number of ranks with unfinished actions.
    pub(crate) ranks: u32,
    /// A line for each of up to 20 actions, with what the action waits for. Started actions come
    /// first.
    pub(crate) lines: Vec<String>,
    /// A line for each of up to three cycles of actions that wait for each other.
    pub(crate) cycles: Vec<String>,
    /// The number of actions that had not entered the window of their rank.
    pub(crate) beyond_window: u64,
    /// The ranks that reached their limit on unexpected messages, so that eager sends to them wait.
    pub(crate) full: Vec<u32>,
    /// The limit on unexpected messages, in bytes.
    pub(crate) unexpected_limit: u64,
    /// The number of ranks that were started. `None` if all were.
    pub(crate) started: Option<Started>,
    /// The ranks that another process has stopped.
    pub(crate) stopped: Vec<Stopped>,
    /// The number of instances that the slowest rank has begun.
    pub(crate) behind: u64,
    /// The number of instances of the schedule.
    pub(crate) repeat: u64,
    /// A line on what each rank does. `None` unless ranks are processes of a program or their
    /// schedule is in the kernel.
    pub(crate) programs: Option<Vec<String>>,
}

/// The number of started ranks of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Started {
    /// The number of ranks that were started.
    pub(crate) started: u32,
    /// The number of all ranks.
    pub(crate) ranks: u32,
}

/// A rank whose process was stopped by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Stopped {
    /// The rank.
    pub(crate) rank: u32,
    /// The ID of the rank's process.
    pub(crate) process: u32,
    /// The signal that stopped the process.
    pub(crate) signal: i32,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, process, signal } = self;
        let name = signal_name(*signal as usize);
        write!(f, "rank {rank} (process {process}) is stopped: {name}")
    }
}

/// Returns the name of a signal, such as `SIGTERM`.
pub(crate) fn signal_name(signal: usize) -> &'static str {
    signal_hook::low_level::signal_name(signal as i32).unwrap_or("a signal")
}

impl Pending {
    /// Returns true if sends wait because their receivers reached the limit on unexpected messages.
    pub fn reached_limit(&self) -> bool {
        !self.full.is_empty()
    }

    /// Returns the report on all ranks. The ranks in `stopped` were stopped by a signal. `all_rest`
    /// is true if no message is on its way, so a message that has not arrived was never sent.
    pub(crate) fn of_job(observed: &Observed<'_>, all_rest: bool, stopped: Vec<Stopped>) -> Self {
        if observed.settings.in_kernel.is_some() {
            let ranks: Vec<u32> = (0..observed.segment.num_ranks()).collect();
            return Self::of_kernel(observed, &ranks, stopped);
        }
        let snapshot = Snapshot::new(observed, all_rest);
        let ranks: Vec<u32> = (0..snapshot.num_ranks()).collect();
        let mut pending = Self::of_ranks(&snapshot, observed, &ranks, all_rest);
        pending.cycles =
            cycles(&snapshot).iter().map(|cycle| describe_cycle(&snapshot, cycle)).collect();
        let started = ranks.iter().flat_map(|&rank| snapshot.unfinished(rank, true));
        let full = started.filter_map(|vertex| snapshot.full(observed, all_rest, vertex));
        pending.full = full.collect::<BTreeSet<u32>>().into_iter().collect();
        pending.stopped = stopped;
        pending
    }

    /// Returns the report on one rank.
    pub(crate) fn of_rank(observed: &Observed<'_>, rank: u32) -> Self {
        Self::of_some(observed, &[rank], vec![])
    }

    /// Returns the report on `ranks`. The state of all other ranks is unknown.
    pub(crate) fn of_some(observed: &Observed<'_>, ranks: &[u32], stopped: Vec<Stopped>) -> Self {
        if observed.settings.in_kernel.is_some() {
            return Self::of_kernel(observed, ranks, stopped);
        }
        Self { stopped, ..Self::of_ranks(&Snapshot::new(observed, false), observed, ranks, false) }
    }

    fn of_ranks(snapshot: &Snapshot, observed: &Observed<'_>, ranks: &[u32], rest: bool) -> Self {
        let JobSpec { unexpected_limit, repeat, .. } = observed.settings.spec;
        let behind = ranks.iter().map(|&rank| snapshot.instance(rank)).min().unwrap_or(0);
        let mut pending = Self { unexpected_limit, repeat, behind, ..Self::default() };
        for started in [true, false] {
            for vertex in ranks.iter().flat_map(|&rank| snapshot.unfinished(rank, started)) {
                pending.actions += 1;
                if pending.lines.len() < SHOWN_MAX {
                    pending.lines.push(describe(snapshot, vertex, rest));
                }
            }
        }
        pending.beyond_window = ranks.iter().map(|&rank| snapshot.beyond_window(rank)).sum();
        pending.actions += pending.beyond_window;
        let any = |&&rank: &&u32| {
            [true, false].iter().any(|&s| snapshot.unfinished(rank, s).next().is_some())
        };
        pending.ranks = ranks.iter().filter(any).count() as u32;
        pending
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        if let Some(Started { started, ranks }) = self.started {
            write!(f, "only {started} of {ranks} ranks were started; ")?;
        }
        for stopped in &self.stopped {
            write!(f, "{stopped}; ")?;
        }
        if let Some(lines) = &self.programs {
            return f.write_str(&lines.join("\n  "));
        }
        if self.actions == 0 {
            // All ranks were between two instances, or at the end of the last one.
            return match (self.behind, self.repeat) {
                (_, 1) => write!(f, "all actions had ended"),
                (behind, repeat) => {
                    write!(f, "all actions of instance {behind} of {repeat} had ended")
                }
            };
        }
        let (actions, ranks) = (plural(self.actions), plural(self.ranks.into()));
        write!(f, "{} action{actions} of {} rank{ranks} had not ended", self.actions, self.ranks)?;
        for line in &self.lines {
            write!(f, "\n  {line}")?;
        }
        if self.actions > self.lines.len() as u64 {
            write!(f, "\n  ... and {} more", self.actions - self.lines.len() as u64)?;
        }
        if self.beyond_window > 0 {
            let (count, plural) = (self.beyond_window, plural(self.beyond_window));
            write!(
                f,
                "\n{count} action{plural} had not entered the window: a schedule that the pass window(W) made \
                 ends in a window of W, another one may need a larger one"
            )?;
        }
        for cycle in &self.cycles {
            write!(f, "\ncycle: {cycle}")?;
        }
        if let Some(first) = self.full.first() {
            let more = match self.full.len() {
                1 => String::new(),
                length => format!(" and {} more", length - 1),
            };
            write!(
                f,
                "\nrank {first}{more}: the messages without a receive reached the limit of {} bytes, so that further sends wait for \
                 theirs",
                self.unexpected_limit
            )?;
        }
        Ok(())
    }
}

fn describe(snapshot: &Snapshot, vertex: Vertex, rest: bool) -> String {
    let place = snapshot.place(vertex);
    let wait = snapshot.wait(vertex);
    let mut text = format!("{place} {}", in_words(snapshot, vertex.0, &wait));
    if let Wait::Message { from, .. } = wait
        && rest
        && snapshot.waits_for(vertex).is_empty()
        && !snapshot.may_yet_send(from)
    {
        text.push_str(&match from {
            ANY => ", and no rank has one left to send".to_owned(),
            from => format!(", and rank {from} has none left to send"),
        });
    }
    text
}

fn in_words(snapshot: &Snapshot, rank: u32, wait: &Wait) -> String {
    let or_any = |value: u32| if value == ANY { "any".to_owned() } else { value.to_string() };
    match wait {
        Wait::Itself => "was under way".to_owned(),
        Wait::Message { from: ANY, tag } => {
            format!("waits for a message from any rank with tag {}", or_any(*tag))
        }
        Wait::Message { from, tag } => {
            format!("waits for a message from rank {from} with tag {}", or_any(*tag))
        }
        Wait::Receiver { to, tag, size } => {
            format!("waits for rank {to} to receive its {size} bytes with tag {tag}")
        }
        Wait::Actions { ends, starts } => {
            let list = |what: &str, offsets: &[u32]| {
                let named: Vec<String> = offsets
                    .iter()
                    .take(NAMED_MAX)
                    .map(|&offset| snapshot.place((rank, offset)).action().to_owned())
                    .collect();
                let more = offsets.len().saturating_sub(NAMED_MAX);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("the {what} of {}{more}", named.join(" and of "))
            };
            let mut parts = Vec::new();
            if !ends.is_empty() {
                parts.push(list("end", ends));
            }
            if !starts.is_empty() {
                parts.push(list("start", starts));
            }
            if parts.is_empty() {
                return "had not started".to_owned();
            }
            format!("waits for {}", parts.join(" and "))
        }
    }
}

/// Returns a text such as `a waits for b, which waits for c, which waits for a`.
fn describe_cycle(snapshot: &Snapshot, cycle: &[Vertex]) -> String {
    let name = |&vertex: &Vertex| snapshot.place(vertex).to_string();
    let mut text = name(&cycle[0]);
    for (i, vertex) in cycle[1..].iter().take(SHOWN_MAX).enumerate() {
        text.push_str(if i == 0 { " waits for " } else { ", which waits for " });
        text.push_str(&name(vertex));
    }
    if cycle.len() > SHOWN_MAX + 1 {
        text.push_str(&format!(", and on over {} more", cycle.len() - SHOWN_MAX - 1));
    }
    text.push_str(if cycle.len() == 1 { " waits for " } else { ", which waits for " });
    text.push_str(&name(&cycle[0]));
    text
}
