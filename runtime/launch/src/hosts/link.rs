//! Connects a launcher with other hosts on Ethernet: by datagrams, and by streams to their
//! launchers.
//!
//! A [`Link`] is used like an [`Endpoint`]. After each call, the caller takes all frames from
//! [`Link::poll_transmit`], and then all events from [`Link::poll_event`]. [`Link::poll_timeout`]
//! gives the time at which it must call [`Link::handle_timeout`].
//!
//! Threat: anyone on the Ethernet may send any frame, and repeat all frames that it has heard.
//! Streams have their own protection. Datagrams without a valid tag are dropped, and the effect of
//! a repeated one is bounded. [`Questions`] decides which questions are answered. Frames of streams
//! are sent before answers. Probes of other runs are ignored. Only one answer or probe per host is
//! kept.

use super::message::{LauncherMessage, LinkEvent, Reply};
use super::questions::Questions;
use super::streams::Streams;
use super::{Discovery, Key};
use goal_esp::auth::Address;
use goal_esp::datagram::Datagrams;
use goal_esp::endpoint::{Config, Endpoint, FRAME_LEN_MAX};
use goal_esp::wire::{EdpRepr, Frame, Mac, Message as Datagram, VERSION};
use goal_job::host::Location;
use goal_job::network::Ethertypes;
use goal_rank::transport::RETRANSMIT_MAX_NS;
use std::collections::{BTreeMap, VecDeque};

/// The time between two reports of hosts that have not been found.
const TELL_NS: u64 = 2_000_000_000;
/// The silence after which a launcher is asked for a sign of life.
const PROBE_NS: u64 = 100_000_000;
/// The most answers that wait to be sent. Further questions are dropped; their hosts ask again.
const ANSWERS_MAX: usize = 64;
/// The time after which a repeated question of the leader is answered again, in nanoseconds. The
/// leader repeats questions less often.
const REPLY_AGAIN_NS: u64 = 5_000_000;
/// The most hosts with other versions that are remembered.
const OTHERS_MAX: usize = 4;

/// A launcher's connections with other hosts.
pub(crate) struct Link {
    me: Address,
    ethertypes: Ethertypes,
    datagrams: Datagrams,
    discovery: Discovery,
    questions: Questions,
    streams: Streams,
    /// Frames with this launcher's questions, probes and replies.
    frames: VecDeque<Vec<u8>>,
    /// Frames with answers to the questions of other hosts.
    answers: VecDeque<Vec<u8>>,
    events: VecDeque<LinkEvent>,
    /// The number of the run. `None` until all hosts have agreed on it.
    run: Option<u64>,
    /// The last probe: the leader, the number of the round and the time. The flag is true until
    /// [`LinkEvent::Probe`] has reported the probe.
    probe: Option<(Mac, u64, u64)>,
    is_probe_due: bool,
    /// The last reply of each host to a probe of this launcher, with the number of its round.
    replies: BTreeMap<Mac, (u64, Reply)>,
    /// The hosts that send datagrams of another version, with this version.
    others: BTreeMap<Mac, u8>,
    /// The number of datagrams that were sent.
    number: u32,
    /// The time of the next [`LinkEvent::Missing`]. `None` once all hosts were found.
    tell_ns: Option<u64>,
    has_told_mine: bool,
    has_told_found: bool,
    /// True after [`LinkEvent::Contradiction`], which ends the search.
    is_broken: bool,
}

impl Link {
    /// Returns the connections of the launcher at `me`, on an interface whose frames carry
    /// `payload_max` bytes of a stream. `seed` must be impossible to guess.
    pub(crate) fn new(
        now_ns: u64,
        (me, ethertypes): (Address, Ethertypes),
        key: &Key,
        discovery: Discovery,
        payload_max: u16,
        seed: [u8; 32],
    ) -> Self {
        let mut config = Config::new(me, key.launchers(), payload_max);
        config.ethertype = ethertypes.esp;
        config.authenticates_data = true;
        // A silent host counts as lost only after many questions and signs of life. So a host is
        // rarely taken for lost by mistake, even if every third frame is lost.
        config.timing.probe_ns = PROBE_NS;
        config.timing.probe_again_ns = PROBE_NS;
        config.timing.retransmit_max_ns = RETRANSMIT_MAX_NS;
        config.timing.retransmit_patient_ns = 2 * PROBE_NS;
        let mut link = Self {
            me,
            ethertypes,
            datagrams: Datagrams::new(me, &key.launchers()).with_ethertype(ethertypes.edp),
            discovery,
            questions: Questions::default(),
            streams: Streams::new(me.port, Endpoint::new(config, seed)),
            frames: VecDeque::new(),
            answers: VecDeque::new(),
            events: VecDeque::new(),
            run: None,
            probe: None,
            is_probe_due: false,
            replies: BTreeMap::new(),
            others: BTreeMap::new(),
            number: 0,
            tell_ns: Some(now_ns + TELL_NS),
            has_told_mine: false,
            has_told_found: false,
            is_broken: false,
        };
        link.look();
        link
    }

    /// Sets the ports of this host's ranks, in the order of the ranks.
    pub(crate) fn claimed(&mut self, ports: &[u16]) {
        self.discovery.claimed(ports);
        self.look();
    }

    /// Sets the number of the run, after all hosts have agreed on it. Probes are sent and answered
    /// from now on.
    pub(crate) fn begin(&mut self, run: u64) {
        self.run = Some(run);
        self.questions.begin();
    }

    /// Opens a stream to the launcher of `host`. The event [`LinkEvent::Connected`] or
    /// [`LinkEvent::Lost`] follows.
    pub(crate) fn connect(&mut self, now_ns: u64, host: Mac) {
        self.streams.connect(now_ns, host);
    }

    /// Sends a message to the launcher of `host`. Does nothing if there is no stream to it. If
    /// `fills` is true, the packets fill long frames. Otherwise they are short, so that they arrive
    /// even if the network drops long frames.
    pub(crate) fn send(&mut self, host: Mac, message: &LauncherMessage, bytes: &[u8], fills: bool) {
        self.streams.send(host, message, bytes, fills);
    }

    /// Returns true if few bytes wait to be sent, so that the caller may send more.
    pub(crate) fn has_room(&self) -> bool {
        self.streams.has_room()
    }

    /// Asks a host for the state of its ranks.
    pub(crate) fn probe(&mut self, host: Mac, round: u64) {
        if let Some(job) = self.run {
            self.say(host, Datagram::Probe { job, round });
        }
    }

    /// Answers a [`LinkEvent::Probe`] of `host`. `rank` is the lowest rank of this host.
    pub(crate) fn reply(&mut self, host: Mac, round: u64, rank: u32, reply: Reply) {
        let Reply { state, sent, taken } = reply;
        if let Some(job) = self.run {
            self.say(host, Datagram::ProbeReply { job, round, rank, state, sent, taken });
        }
    }

    /// Closes all streams after their last messages were sent.
    pub(crate) fn close(&mut self, now_ns: u64) {
        self.streams.close(now_ns);
    }

    /// Returns true if no stream is left. After [`Link::close`] this means that all messages have
    /// arrived, in both directions.
    pub(crate) fn is_closed(&self) -> bool {
        self.streams.is_closed()
    }

    /// Returns true if all other launchers have sent their last messages.
    pub(crate) fn has_heard_all(&self) -> bool {
        self.streams.have_all_finished()
    }

    /// Returns true after [`LinkEvent::Contradiction`]. This launcher still answers questions for a
    /// while, so that other hosts find the contradiction too.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Handles a received frame.
    pub(crate) fn handle_frame(&mut self, now_ns: u64, frame: &[u8]) {
        let is_stream =
            Frame::new_checked(frame).is_ok_and(|frame| frame.ethertype() == self.ethertypes.esp);
        if is_stream {
            self.streams.handle_frame(now_ns, frame);
            return;
        }
        let Some((from, datagram)) = self.datagrams.read(frame) else {
            if let Some((host, version)) = self.datagrams.other_version(frame)
                && self.others.len() < OTHERS_MAX
            {
                self.others.insert(host, version);
            } else if let Some(caller) = self.datagrams.source_with_other_key(frame) {
                self.discovery.hear_caller(caller);
            }
            return;
        };
        let EdpRepr { number, message, .. } = datagram.repr();
        match message {
            Datagram::Discovery { job, nonce } => self.answer(now_ns, from, (job, nonce, number)),
            Datagram::Answer { .. } if !self.is_broken => {
                if let Err(contradiction) = self.discovery.handle(from, &message) {
                    self.is_broken = true;
                    self.events.push_back(LinkEvent::Contradiction(contradiction));
                }
                self.look();
            }
            Datagram::Probe { job, round } if self.run == Some(job) => {
                let is_new = self.probe.is_none_or(|(_, last, at_ns)| {
                    match round.wrapping_sub(last) as i64 {
                        0 => now_ns >= at_ns + REPLY_AGAIN_NS,
                        ahead => ahead > 0,
                    }
                });
                if is_new {
                    self.probe = Some((from, round, now_ns));
                    self.is_probe_due = true;
                }
            }
            Datagram::ProbeReply { job, round, state, sent, taken, .. }
                if self.run == Some(job) =>
            {
                let is_old = |&(last, _): &(u64, Reply)| (round.wrapping_sub(last) as i64) < 0;
                if self.discovery.is_host(from) && !self.replies.get(&from).is_some_and(is_old) {
                    self.replies.insert(from, (round, Reply { state, sent, taken }));
                }
            }
            _ => {}
        }
    }

    /// Answers a question, unless it is old or comes too soon after another one of its host.
    fn answer(&mut self, now_ns: u64, from: Mac, (job, nonce, number): (u64, u64, u32)) {
        if !self.questions.is_due(now_ns, from, nonce, number) {
            return;
        }
        let Self { datagrams, discovery, answers, me, .. } = self;
        for message in discovery.answers(job, nonce) {
            if answers.len() < ANSWERS_MAX {
                answers.push_back(frame_of(datagrams, from, me.port, number, message));
            }
        }
    }

    /// Handles all timers that are due.
    pub(crate) fn handle_timeout(&mut self, now_ns: u64) {
        self.streams.handle_timeout(now_ns);
        if self.is_broken {
            return;
        }
        if let Some(question) = self.discovery.poll_question(now_ns) {
            self.say(Mac::BROADCAST, question);
        }
        if self.tell_ns.is_some_and(|tell_ns| tell_ns <= now_ns) {
            self.tell_ns = (!self.discovery.is_complete()).then_some(now_ns + TELL_NS);
            if self.tell_ns.is_some() {
                self.tell_missing();
            }
        }
    }

    /// Reports [`LinkEvent::Missing`] at once.
    pub(crate) fn tell_missing(&mut self) {
        let mut missing = self.discovery.missing();
        for (host, version) in &self.others {
            missing += &format!(
                "; host {host} sends frames of version {version}, and this goal-run those of version {VERSION}: \
                 install the same goal-run there"
            );
        }
        self.events.push_back(LinkEvent::Missing(missing));
    }

    /// Returns the time at which [`Link::handle_timeout`] must be called.
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        let ask_ns = if self.is_broken { None } else { self.discovery.poll_timeout() };
        [self.streams.poll_timeout(), ask_ns, self.tell_ns].into_iter().flatten().min()
    }

    /// Writes the next frame to `out`, which must have room for the longest frame. Returns its
    /// length, or `None` if there is no frame to send.
    pub(crate) fn poll_transmit(&mut self, now_ns: u64, out: &mut [u8]) -> Option<usize> {
        let copy = |frame: Vec<u8>, out: &mut [u8]| {
            out[..frame.len()].copy_from_slice(&frame);
            frame.len()
        };
        if let Some(frame) = self.frames.pop_front() {
            return Some(copy(frame, out));
        }
        // Frames of streams come before answers, which anybody can cause by repeating questions.
        if let Some(len) = self.streams.poll_transmit(now_ns, out) {
            return Some(len);
        }
        Some(copy(self.answers.pop_front()?, out))
    }

    /// Returns the next event. Only this function reads streams, so a slow caller slows down
    /// senders.
    pub(crate) fn poll_event(&mut self, now_ns: u64) -> Option<LinkEvent> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        if let Some((from, round, _)) =
            self.probe.filter(|_| std::mem::take(&mut self.is_probe_due))
        {
            return Some(LinkEvent::Probe { from: from.into(), round });
        }
        if let Some((from, (round, reply))) = self.replies.pop_first() {
            return Some(LinkEvent::Replied(from.into(), round, reply));
        }
        self.streams.poll_event(now_ns)
    }

    /// Sends a datagram with the next number.
    fn say(&mut self, to: Mac, message: Datagram<'_>) {
        self.number = self.number.wrapping_add(1);
        let frame = frame_of(&self.datagrams, to, self.me.port, self.number, message);
        self.frames.push_back(frame);
    }

    /// Adds events for results of the search that were not reported yet.
    fn look(&mut self) {
        if self.is_broken {
            return;
        }
        if !self.has_told_mine
            && let Some(mine) = self.discovery.mine()
        {
            self.has_told_mine = true;
            self.events.push_back(LinkEvent::Mine(mine.to_vec()));
        }
        if !self.has_told_found
            && let Some(addresses) = self.discovery.addresses()
        {
            self.has_told_found = true;
            let locations = addresses.into_iter().map(Location::from).collect();
            self.events.push_back(LinkEvent::Found(locations));
        }
    }
}

/// Returns a frame with a datagram to one launcher or to all.
fn frame_of(
    datagrams: &Datagrams,
    to: Mac,
    port: u16,
    number: u32,
    message: Datagram<'_>,
) -> Vec<u8> {
    let mut frame = vec![0; FRAME_LEN_MAX];
    let len = datagrams.write(to, port, number, message, &mut frame);
    frame.truncate(len);
    frame
}
