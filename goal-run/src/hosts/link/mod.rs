//! A launcher's end of all that it has to do with other hosts: datagrams, and streams to other
//! launchers.
//!
//! As [`Endpoint`] has it: after each call, [`Link::poll_transmit`] until there are no more frames,
//! [`Link::poll_event`] until there are no more events, and [`Link::poll_timeout`] for the time at
//! which [`Link::handle_timeout`] is to be called.
//!
//! Threat: anyone on the Ethernet may send any frame and repeat all that it has heard. Streams take
//! care of themselves. Datagrams count with a tag only, and what a repeated one can bring about is
//! bounded: questions are answered as [`Questions`] says, answers leave after all that streams have
//! to say, probes count in the run that they are of, and one of each kind and host waits.

mod streams;

use super::questions::Questions;
use super::{Discovery, DiscoveryError, Key, Message};
use crate::network::Ethertypes;
use crate::transport::RETRANSMIT_MAX_NS;
use goal_esp::auth::Address;
use goal_esp::datagram::Datagrams;
use goal_esp::endpoint::{Config, Endpoint, FRAME_LEN_MAX};
use goal_esp::wire::{EdpRepr, Frame, Mac, Message as Datagram, State, VERSION};
use std::collections::{BTreeMap, VecDeque};
use streams::Streams;

/// After which it is told, again and again, who has not been found.
const TELL_NS: u64 = 2_000_000_000;
/// After which a launcher that says nothing is asked for a sign of life.
const PROBE_NS: u64 = 100_000_000;
/// Answers that wait to leave at most: who asks for more asks again.
const ANSWERS_MAX: usize = 64;
/// After which a question of the leader is answered again that was answered: it asks so rarely.
const REPLY_AGAIN_NS: u64 = 5_000_000;
/// Hosts of other versions that are remembered.
const OTHERS_MAX: usize = 4;

/// What the ranks of a host do, all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Whether some rank works, none can go on, or all are done.
    pub state: State,
    /// Messages that they sent to other hosts.
    pub sent: u64,
    /// Messages that they took from other hosts.
    pub taken: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// These ranks are on this host: [`Link::claimed`] is to tell their ports.
    Mine(Vec<u32>),
    /// Who has not been found after a while, in words.
    Missing(String),
    /// It is known where each rank takes frames.
    Found(Vec<Address>),
    /// The hosts contradict each other, or their plan.
    Contradiction(DiscoveryError),
    /// There is a stream to a launcher.
    Connected(Mac),
    /// A message of a launcher, with the bytes behind it.
    Message(Mac, Message, Vec<u8>),
    /// A launcher says nothing more.
    Finished(Mac),
    /// There is no stream to a launcher any more; why, in words.
    Lost(Mac, String),
    /// The leader asks whether the ranks can go on: [`Link::reply`].
    Probe {
        /// Who asks.
        from: Mac,
        /// In which round.
        round: u64,
    },
    /// A host says whether its ranks can go on.
    Replied(Mac, u64, Reply),
}

/// A launcher's end.
pub struct Link {
    me: Address,
    ethertypes: Ethertypes,
    datagrams: Datagrams,
    discovery: Discovery,
    questions: Questions,
    streams: Streams,
    /// Frames with datagrams that this launcher sends of itself, or because the leader asked.
    frames: VecDeque<Vec<u8>>,
    /// Frames with answers to who is there.
    answers: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
    /// The number of the run, once that is known.
    run: Option<u64>,
    /// The leader's last question, when it was asked, and whether [`Event::Probe`] is still to tell
    /// it.
    probe: Option<(Mac, u64, u64)>,
    is_probe_due: bool,
    /// Last answers to this leader's questions, by host.
    replies: BTreeMap<Mac, (u64, Reply)>,
    /// Hosts whose datagrams are of another version, and which one.
    others: BTreeMap<Mac, u8>,
    /// Datagrams asked so far.
    number: u32,
    /// When it is told who has not been found; `None` when all are.
    tell_ns: Option<u64>,
    has_told_mine: bool,
    has_told_found: bool,
    /// Nothing more is looked for once something did not go together.
    is_broken: bool,
}

impl Link {
    /// The end of the launcher at `me`, on an interface whose frames carry `payload_max` bytes of a
    /// stream. Nobody must be able to guess `seed`.
    pub fn new(
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
        // Many questions and signs of life fit into the time after which a host is lost, also where
        // every third frame is.
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

    /// The ranks of this host take frames at these ports.
    pub fn claimed(&mut self, ports: &[u16]) {
        self.discovery.claimed(ports);
        self.look();
    }

    /// All hosts are there, and agree on the run's number: from now on they ask each other whether
    /// ranks can go on.
    pub fn begin(&mut self, run: u64) {
        self.run = Some(run);
        self.questions.begin();
    }

    /// Opens a stream to the launcher of a host. [`Event::Connected`] or [`Event::Lost`] follows.
    pub fn connect(&mut self, now_ns: u64, host: Mac) {
        self.streams.connect(now_ns, host);
    }

    /// Says something to a launcher; nothing where there is no stream to it. It leaves in packets
    /// that fill frames, or in short ones, which arrive where the network drops long frames.
    pub fn send(&mut self, host: Mac, message: &Message, bytes: &[u8], fills: bool) {
        self.streams.send(host, message, bytes, fills);
    }

    /// Whether more may be sent without too much waiting to leave.
    pub fn has_room(&self) -> bool {
        self.streams.has_room()
    }

    /// Asks a host whether its ranks can go on.
    pub fn probe(&mut self, host: Mac, round: u64) {
        if let Some(job) = self.run {
            self.say(host, Datagram::Probe { job, round });
        }
    }

    /// Answers a [`Event::Probe`] of `host`; `rank` is the lowest of this host.
    pub fn reply(&mut self, host: Mac, round: u64, rank: u32, reply: Reply) {
        let Reply { state, sent, taken } = reply;
        if let Some(job) = self.run {
            self.say(host, Datagram::ProbeReply { job, round, rank, state, sent, taken });
        }
    }

    /// Says nothing more to anybody, after all that was said.
    pub fn close(&mut self, now_ns: u64) {
        self.streams.close(now_ns);
    }

    /// Whether no stream is left: after [`Link::close`], all has arrived on both sides.
    pub fn is_closed(&self) -> bool {
        self.streams.is_closed()
    }

    /// Whether all other launchers have said that they say nothing more.
    pub fn has_heard_all(&self) -> bool {
        self.streams.have_all_finished()
    }

    /// Whether [`Event::Contradiction`] was told. The others find it too as long as this answers.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Takes a frame.
    pub fn handle_frame(&mut self, now_ns: u64, frame: &[u8]) {
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
            } else if let Some(stranger) = self.datagrams.source_with_other_key(frame) {
                self.discovery.hear_stranger(stranger);
            }
            return;
        };
        let EdpRepr { number, message, .. } = datagram.repr();
        match message {
            Datagram::Discovery { job, nonce } => self.answer(now_ns, from, (job, nonce, number)),
            Datagram::Answer { .. } if !self.is_broken => {
                if let Err(contradiction) = self.discovery.handle(from, &message) {
                    self.is_broken = true;
                    self.events.push_back(Event::Contradiction(contradiction));
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

    /// Answers a question, unless it is an old one or comes too soon.
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

    /// Lets the timers pass whose time has come.
    pub fn handle_timeout(&mut self, now_ns: u64) {
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

    /// Lets [`Event::Missing`] follow at once.
    pub fn tell_missing(&mut self) {
        let mut missing = self.discovery.missing();
        for (host, version) in &self.others {
            missing += &format!(
                "; host {host} sends frames of version {version}, and this goal-run those of version {VERSION}: \
                 install the same goal-run there"
            );
        }
        self.events.push_back(Event::Missing(missing));
    }

    /// When [`Link::handle_timeout`] is to be called next.
    pub fn poll_timeout(&self) -> Option<u64> {
        let ask_ns = if self.is_broken { None } else { self.discovery.poll_timeout() };
        [self.streams.poll_timeout(), ask_ns, self.tell_ns].into_iter().flatten().min()
    }

    /// Writes the next frame to `out`, which has room for the longest; how many bytes it has.
    pub fn poll_transmit(&mut self, now_ns: u64, out: &mut [u8]) -> Option<usize> {
        let copy = |frame: Vec<u8>, out: &mut [u8]| {
            out[..frame.len()].copy_from_slice(&frame);
            frame.len()
        };
        if let Some(frame) = self.frames.pop_front() {
            return Some(copy(frame, out));
        }
        // Signs of life, acknowledgements and messages of streams come before what anybody can ask
        // for again and again.
        if let Some(len) = self.streams.poll_transmit(now_ns, out) {
            return Some(len);
        }
        Some(copy(self.answers.pop_front()?, out))
    }

    /// What has happened. What streams brought is read here, so that nothing more comes than is
    /// asked for.
    pub fn poll_event(&mut self, now_ns: u64) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        if let Some((from, round, _)) =
            self.probe.filter(|_| std::mem::take(&mut self.is_probe_due))
        {
            return Some(Event::Probe { from, round });
        }
        if let Some((from, (round, reply))) = self.replies.pop_first() {
            return Some(Event::Replied(from, round, reply));
        }
        self.streams.poll_event(now_ns)
    }

    /// Sends a datagram of this launcher's own.
    fn say(&mut self, to: Mac, message: Datagram<'_>) {
        self.number = self.number.wrapping_add(1);
        let frame = frame_of(&self.datagrams, to, self.me.port, self.number, message);
        self.frames.push_back(frame);
    }

    /// Tells what has been found.
    fn look(&mut self) {
        if self.is_broken {
            return;
        }
        if !self.has_told_mine
            && let Some(mine) = self.discovery.mine()
        {
            self.has_told_mine = true;
            self.events.push_back(Event::Mine(mine.to_vec()));
        }
        if !self.has_told_found
            && let Some(addresses) = self.discovery.addresses()
        {
            self.has_told_found = true;
            self.events.push_back(Event::Found(addresses));
        }
    }
}

/// A frame with a datagram for a launcher, or for all.
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
