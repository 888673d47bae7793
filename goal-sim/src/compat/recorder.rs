//! The records of a simulation that the peers write beside its times.

use super::Peer;
use super::arguments::Settings;
use super::queues::Queues;
use super::timeline::Timeline;
use goal_loggops::peers::{Meeting, Observer, Pair};
use goal_loggops::{Kind, Workload};
use goalc::driver::{Error, Output, Target, print};
use std::path::Path;

/// Sees a simulation and keeps what was asked for.
pub(super) struct Recorder<'w> {
    workload: &'w Workload,
    timeline: Option<Timeline<'w>>,
    queues: Option<Queues<'w>>,
    progress: Option<Progress>,
    matches: Option<Vec<Pair>>,
    bytes: Bytes,
}

/// The records that the end of the output needs.
pub(super) struct Records<'w> {
    pub(super) queues: Option<Queues<'w>>,
    pub(super) matches: Option<Vec<u8>>,
    pub(super) bytes: Bytes,
}

/// The messages that were sent, with their times on a link of 200 Gbit/s in nanoseconds.
#[derive(Default)]
pub(super) struct Bytes {
    pub(super) messages: u64,
    pub(super) total_ns: f64,
}

/// The figures of the lines of progress.
struct Progress {
    peer: Peer,
    /// The next hundredth.
    percent: u32,
    /// The actions, and the messages that were sent.
    known: u64,
    /// Events of computations and of messages that were put back since the last line.
    retries: [u64; 2],
    printed: Result<(), Error>,
}

/// Begins a file that is no input.
pub(super) fn create(path: &Path, settings: &Settings) -> Result<Output, Error> {
    let target =
        Target::File(path.to_owned()).apart_from(&settings.input.inputs).map_err(|_| {
            Error::Usage(format!("{}: the result would replace the input", path.display()))
        })?;
    Output::create(&target, false)
}

impl<'w> Recorder<'w> {
    pub(super) fn new(
        peer: Peer,
        settings: &Settings,
        workload: &'w Workload,
    ) -> Result<Self, Error> {
        let timeline = match &settings.timeline {
            Some(path) => Some(Timeline::new(peer, settings, workload, create(path, settings)?)),
            None => None,
        };
        let has_queues = settings.statistics.is_some() || settings.has_progress;
        let progress = || Progress {
            peer,
            percent: 0,
            known: workload.len() as u64,
            retries: [0; 2],
            printed: Ok(()),
        };
        Ok(Self {
            workload,
            timeline,
            queues: has_queues.then(|| Queues::new(peer, workload)),
            progress: settings.has_progress.then(progress),
            matches: settings.matches.is_some().then(Vec::new),
            bytes: Bytes::default(),
        })
    }

    /// Ends the timeline.
    pub(super) fn finish(self) -> Result<Records<'w>, Error> {
        if let Some(timeline) = self.timeline {
            timeline.finish()?;
        }
        if let Some(progress) = self.progress {
            progress.printed?;
        }
        let Self { workload, queues, matches, bytes, .. } = self;
        let matches =
            matches.map(|pairs| pairs.iter().flat_map(|pair| line(workload, pair)).collect());
        Ok(Records { queues, matches, bytes })
    }
}

/// Returns the ranks of a message and its receive, each with the number of the action in its rank.
fn line(workload: &Workload, &Pair { send, receive }: &Pair) -> Vec<u8> {
    let [(from, send), (to, receive)] = [send, receive].map(|action| {
        let rank = workload.rank_of(action);
        (rank, action - workload.actions(rank).start)
    });
    format!("{from},{send},{to},{receive}\n").into_bytes()
}

impl Observer for Recorder<'_> {
    fn sees_retries(&self) -> bool {
        self.progress.is_some()
    }

    fn calc(&mut self, action: u32, start: u64) {
        if let Some(timeline) = &mut self.timeline {
            timeline.calc(action, start);
        }
    }

    fn send(&mut self, send: u32, start: u64) {
        // ATLAHS keeps sizes in 32 bits.
        let size = self.workload.record(send).size.max(1) as i32;
        self.bytes.total_ns += f64::from(size) * 8.0 / 200.0;
        self.bytes.messages += 1;
        if let Some(timeline) = &mut self.timeline {
            timeline.send(send, start);
        }
        if let Some(progress) = &mut self.progress {
            progress.known += 1;
        }
    }

    fn wait(&mut self, action: u32, time: u64) {
        if let Some(timeline) = &mut self.timeline {
            timeline.wait(action, time);
        }
        if let Some(queues) = &mut self.queues {
            queues.wait(action, time);
        }
    }

    fn meet(&mut self, meeting: Meeting) {
        if let Some(timeline) = &mut self.timeline {
            timeline.meet(meeting);
        }
        if let Some(queues) = &mut self.queues {
            queues.meet(meeting);
        }
        if let Some(matches) = &mut self.matches {
            matches.push(meeting.pair);
        }
    }

    fn retry(&mut self, action: u32) {
        if let Some(progress) = &mut self.progress {
            let is_message = self.workload.record(action).kind == Kind::Send;
            progress.retries[usize::from(is_message)] += 1;
        }
    }

    fn step(&mut self, queued: usize, made: u64) {
        if let (Some(progress), Some(queues)) = (&mut self.progress, &self.queues) {
            progress.step(queues, queued, made);
        }
    }
}

impl Progress {
    fn step(&mut self, queues: &Queues, queued: usize, made: u64) {
        let percent = self.percent;
        if self.known / 100 * u64::from(percent) >= made || self.printed.is_err() {
            return;
        }
        self.percent += 1;
        let (rq, uq) = (queues.receives.len_max(), queues.unexpected.len_max());
        let [calcs, messages] = std::mem::take(&mut self.retries);
        let retries = match self.peer {
            Peer::Loggopsim => String::new(),
            Peer::Atlahs => format!(": reinserts: ({calcs}, {messages}, 0)"),
        };
        self.printed = print(|out| {
            write!(out, "progress: {percent} % ({made}) ")?;
            writeln!(out, "[sizes: aq: {queued} max rq: {rq} max uq: {uq}{retries}]")
        });
    }
}
