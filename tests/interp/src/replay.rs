//! Replays a recorded matching.

use std::collections::{BTreeMap, HashMap, HashSet};

use goal_lang::{ANY, Action, ActionId, Program};

use crate::error::{Error, Illegal, Place};
use crate::matching::{Envelope, Message};
use crate::options::Options;
use crate::outcome::{Matches, Outcome, Taken};
use crate::state::{Started, State, Vertex};

/// A message: its source, its destination and its number.
type MessageId = (u32, u32, u64);

/// Runs a program so that every receive takes the message that the record names.
///
/// Refuses a record that no run can have. Such a record does not fit the program, or has a message
/// that does not match its receive. Or it contradicts the dependencies or the order of messages of
/// one source. For that order, a receive must be posted after the receives of all earlier messages
/// that it could have taken. The order of arrivals from different sources is not checked. A record
/// that contradicts only this order is accepted.
///
/// # Errors
/// [`Error::Illegal`] for a refused record, [`Error::Failure`] if an action cannot be executed.
pub fn replay(program: &Program, options: &Options, matches: &Matches) -> Result<Outcome, Error> {
    let record = Record::new(program, matches)?;
    let mut replay = Replay {
        state: State::new(program, options, true),
        posted_before: record.posted_before(program)?,
        record,
        next: BTreeMap::new(),
        early_sends: HashMap::new(),
        messages: HashMap::new(),
    };
    while let Some(vertex) = replay.state.ready.pop() {
        replay.start(vertex)?;
    }
    if replay.state.is_finished() {
        let unreceived = replay.messages.len() as u64;
        Ok(replay.state.outcome(unreceived))
    } else {
        Err(Illegal::Impossible(replay.state.stuck()).into())
    }
}

struct Replay<'p> {
    state: State<'p>,
    record: Record<'p>,
    posted_before: PostedBefore,
    /// The number of the next message, by source and destination.
    next: BTreeMap<(u32, u32), u64>,
    /// The sends that became ready before the record allows them to start.
    early_sends: HashMap<MessageId, ActionId>,
    /// The messages that were sent and that no receive has taken.
    messages: HashMap<MessageId, Message>,
}

impl Replay<'_> {
    /// Starts a ready action. Keeps it if the record does not allow its start yet.
    fn start(&mut self, vertex: Vertex) -> Result<(), Error> {
        let (rank, id) = vertex;
        match *self.state.program().body_of(rank).action(id) {
            Action::Send { to, .. } => {
                let number = self.record.matches.sends[&vertex];
                if number > *self.next.entry((rank, to)).or_default() {
                    self.early_sends.insert((rank, to, number), id);
                    return Ok(());
                }
            }
            Action::Recv { .. } if self.posted_before.holds_back(vertex) => return Ok(()),
            _ => {}
        }
        match self.state.start(vertex)? {
            Started::Local => {}
            Started::Sent(message) => {
                let pair = (message.source, message.destination);
                let number = message.sequence + 1;
                self.next.insert(pair, number);
                self.state.ready.extend(
                    self.early_sends.remove(&(pair.0, pair.1, number)).map(|id| (rank, id)),
                );
                let id = (pair.0, pair.1, message.sequence);
                match self.record.takers.get(&id) {
                    Some(&recv) if self.state.has_started((pair.1, recv)) => {
                        self.state.take((pair.1, recv), message)?;
                    }
                    _ => {
                        self.messages.insert(id, message);
                    }
                }
            }
            Started::Posted(_) => {
                let released = self.posted_before.posted(vertex);
                self.state.ready.extend(released);
                let Taken { source, sequence } = self.record.matches.receives[&vertex];
                if let Some(message) = self.messages.remove(&(source, rank, sequence)) {
                    self.state.take(vertex, message)?;
                }
            }
        }
        Ok(())
    }
}

/// A record that was checked against the program.
struct Record<'p> {
    matches: &'p Matches,
    sends: BTreeMap<MessageId, ActionId>,
    takers: HashMap<MessageId, ActionId>,
}

impl<'p> Record<'p> {
    fn new(program: &Program, matches: &'p Matches) -> Result<Self, Illegal> {
        let place = |(rank, id): Vertex| Place::new(program, rank, id);
        let mut sends = BTreeMap::new();
        for (vertex, action) in vertices(program) {
            if let Action::Send { to, .. } = *action {
                let number =
                    *matches.sends.get(&vertex).ok_or_else(|| Illegal::Missing(place(vertex)))?;
                if sends.insert((vertex.0, to, number), vertex.1).is_some() {
                    return Err(Illegal::Order(place(vertex)));
                }
            }
        }
        let mut expected: Option<MessageId> = None;
        for (&(source, destination, number), &send) in &sends {
            let wanted = match expected {
                Some(next) if (next.0, next.1) == (source, destination) => next.2,
                _ => 0,
            };
            if number != wanted {
                return Err(Illegal::Order(place((source, send))));
            }
            expected = Some((source, destination, number + 1));
        }
        let mut takers = HashMap::new();
        for (vertex, action) in vertices(program) {
            let Action::Recv { from, tag, .. } = *action else { continue };
            let taken =
                matches.receives.get(&vertex).ok_or_else(|| Illegal::Missing(place(vertex)))?;
            let Taken { source, sequence } = *taken;
            let id = (source, vertex.0, sequence);
            let (Some(&send), None) = (sends.get(&id), takers.insert(id, vertex.1)) else {
                return Err(Illegal::NoSuchMessage {
                    place: place(vertex),
                    source_rank: source,
                    sequence,
                });
            };
            if !(Envelope { from, tag }).fits(source, send_tag(program, source, send)) {
                return Err(Illegal::Envelope { recv: place(vertex), send: place((source, send)) });
            }
        }
        Ok(Self { matches, sends, takers })
    }

    /// Returns which receives must be posted before others. Messages of one source arrive in order.
    /// So a receive that took a message was posted after the receives of all earlier messages that
    /// it accepts. For each tag only the latest of these messages is needed: its own receive
    /// accepts the earlier ones.
    fn posted_before(&self, program: &Program) -> Result<PostedBefore, Illegal> {
        let mut posted_before = PostedBefore::default();
        let mut pair = None;
        let mut latest: BTreeMap<u32, Option<ActionId>> = BTreeMap::new();
        for (&(source, rank, number), &send) in &self.sends {
            if pair != Some((source, rank)) {
                pair = Some((source, rank));
                latest.clear();
            }
            let tag = send_tag(program, source, send);
            let taker = self.takers.get(&(source, rank, number)).copied();
            if let Some(recv) = taker {
                let Action::Recv { tag: wanted, .. } = *program.body_of(rank).action(recv) else {
                    unreachable!("a receive takes a message")
                };
                let range = if wanted == ANY { 0..=ANY } else { tag..=tag };
                for (_, earlier) in latest.range(range) {
                    let earlier = earlier.ok_or_else(|| Illegal::NoSuchMessage {
                        place: Place::new(program, rank, recv),
                        source_rank: source,
                        sequence: number,
                    })?;
                    posted_before.add((rank, recv), (rank, earlier));
                }
            }
            latest.insert(tag, taker);
        }
        Ok(posted_before)
    }
}

/// The receives that wait until other receives are posted.
#[derive(Default)]
struct PostedBefore {
    waiters: HashMap<Vertex, Vec<Vertex>>,
    unmet: HashMap<Vertex, u32>,
    held_back: HashSet<Vertex>,
}

impl PostedBefore {
    fn add(&mut self, waiter: Vertex, earlier: Vertex) {
        self.waiters.entry(earlier).or_default().push(waiter);
        *self.unmet.entry(waiter).or_default() += 1;
    }

    /// Returns true if a ready receive must not be posted yet. Then keeps it until it may.
    fn holds_back(&mut self, recv: Vertex) -> bool {
        let holds = self.unmet.get(&recv).is_some_and(|&unmet| unmet > 0);
        if holds {
            self.held_back.insert(recv);
        }
        holds
    }

    /// Notes that a receive was posted. Returns the receives that may be posted because of this.
    fn posted(&mut self, recv: Vertex) -> Vec<Vertex> {
        let mut released = Vec::new();
        for waiter in self.waiters.remove(&recv).unwrap_or_default() {
            let unmet = self.unmet.entry(waiter).or_default();
            *unmet -= 1;
            if *unmet == 0 && self.held_back.remove(&waiter) {
                released.push(waiter);
            }
        }
        released
    }
}

fn vertices(program: &Program) -> impl Iterator<Item = (Vertex, &Action)> {
    (0..program.num_ranks()).flat_map(|rank| {
        let body = program.body_of(rank);
        body.ids().map(move |id| ((rank, id), body.action(id)))
    })
}

fn send_tag(program: &Program, source: u32, send: ActionId) -> u32 {
    match *program.body_of(source).action(send) {
        Action::Send { tag, .. } => tag,
        _ => unreachable!("a message comes from a send"),
    }
}
