//! A network of engines in one thread. A seed chooses the engine that polls next, the time at which
//! each message arrives, and the room of each rank.
#![allow(unsafe_code)] // regions over the vectors that hold the ranks' memory

use crate::Seed;
use crate::engine::{
    Engine, Failure, MatchesView, Met, Options, Schedule, Stats, Storage, Waiting, sends,
};
use crate::memory::{Imported, Region, Span};
use crate::testing::{add_bytes, nisa, state};
use crate::transport::{Full, Header, Kind, Sink, Transport, Unreadable, Unwritable};
use goal_asm::Nisa;
use goal_interp::{Matches, Taken};
use goal_lang::{Action, ActionId, Program};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

type Message = (Header, Vec<u8>);

/// Messages under way and the dice.
pub(super) struct Wire {
    queues: BTreeMap<(u32, u32), VecDeque<Message>>,
    pub(super) random: fastrand::Rng,
    /// Regions by rank, for direct reads; empty where peers cannot reach them.
    exported: Vec<Vec<Region>>,
    /// True if peers read these in place. Otherwise they are copied, or refused.
    mapped: bool,
    payload_max: usize,
    /// True if parts of longer messages have sizes of their own, as where they fill up packets.
    odd_parts: bool,
    /// True if ranks send more than the limit before a receive, or are asked for parts of messages
    /// by and by.
    pushes: bool,
    /// Most messages under way between two ranks.
    depth: usize,
    /// The room that each rank announced.
    room: BTreeMap<u32, u64>,
}

pub(super) struct SimTransport {
    rank: u32,
    wire: Rc<RefCell<Wire>>,
}

impl Transport for SimTransport {
    fn short_max(&self) -> usize {
        self.wire.borrow().payload_max.min(64)
    }

    fn payload_max(&mut self, to: u32) -> usize {
        // To some ranks there is less.
        let wire = self.wire.borrow();
        if (self.rank + to).is_multiple_of(3) { wire.payload_max.min(64) } else { wire.payload_max }
    }

    fn part_max(&mut self, to: u32) -> usize {
        let payload_max = self.payload_max(to);
        let wire = &mut *self.wire.borrow_mut();
        if wire.odd_parts { wire.random.usize(8..=payload_max) } else { payload_max }
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let wire = &mut *self.wire.borrow_mut();
        let queue = wire.queues.entry((self.rank, to)).or_default();
        if queue.len() >= wire.depth || wire.random.u8(..8) == 0 {
            return Err(Full);
        }
        let mut payload = vec![0; header.payload_len()];
        fill(&mut payload);
        queue.push_back((*header, payload));
        Ok(())
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        for taken in 0..messages_max {
            let mut wire = self.wire.borrow_mut();
            let mine =
                wire.queues.iter().filter(|((_, to), queue)| *to == self.rank && !queue.is_empty());
            let sources: Vec<u32> = mine.map(|((from, _), _)| *from).collect();
            if sources.is_empty() || wire.random.u8(..3) == 0 {
                return taken;
            }
            let source = sources[wire.random.usize(..sources.len())];
            let queue = wire.queues.get_mut(&(source, self.rank)).unwrap();
            let (header, payload) = queue.pop_front().unwrap();
            let is_whole = wire.random.bool();
            drop(wire);
            let next = match is_whole {
                true => sink.take(&header, &payload),
                false => place(&self.wire, sink, &header, &payload),
            };
            if next.is_break() {
                return taken + 1;
            }
        }
        messages_max
    }

    fn pushed_max(&mut self, _: u32, bytes: Option<Span>) -> u64 {
        let wire = &mut *self.wire.borrow_mut();
        match bytes {
            _ if !wire.pushes => 0,
            Some(_) => [0, 20, 5000][wire.random.usize(..3)],
            None => u64::MAX,
        }
    }

    fn window(&mut self, _: u32) -> u32 {
        let wire = &mut *self.wire.borrow_mut();
        if wire.pushes { [0, 15, 64, 4000][wire.random.usize(..4)] } else { 0 }
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        let bytes = bytes.min(most);
        self.wire.borrow_mut().room.insert(self.rank, bytes);
    }

    fn room(&self, to: u32) -> u64 {
        self.wire.borrow().room.get(&to).copied().unwrap_or(0)
    }

    fn export(&self, to: u32, bytes: Span) -> Option<u64> {
        let wire = self.wire.borrow();
        // A rank sends itself messages where it can't be read in place.
        let exported = &wire.exported[self.rank as usize];
        let is_exported = (wire.mapped || to != self.rank)
            && exported.iter().any(|region| contains(region, bytes));
        is_exported.then_some(bytes.address() as u64)
    }

    fn import(&self, source: u32, address: u64, len: u64) -> Option<Imported<'_>> {
        let wire = self.wire.borrow();
        let bytes = wire.find(source, address, len).filter(|_| wire.mapped)?;
        // SAFETY: a part of a region that outlives the engines, which run in one thread.
        Some(unsafe { Imported::new(bytes) })
    }

    fn get_zcopy(
        &mut self,
        source: u32,
        address: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        let wire = &mut *self.wire.borrow_mut();
        let bytes = wire.find(source, address + offset, into.len() as u64).ok_or(Unreadable)?;
        if wire.random.u8(..8) == 0 {
            return Err(Unreadable);
        }
        bytes.read(|bytes| into.copy_from_slice(bytes));
        Ok(())
    }

    fn export_mut(&self, to: u32, bytes: Span) -> Option<u64> {
        self.export(to, bytes).filter(|_| to != self.rank)
    }

    fn put_zcopy(
        &mut self,
        to: u32,
        address: u64,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Unwritable> {
        let wire = &mut *self.wire.borrow_mut();
        let buffer = wire.find(to, address + offset, bytes.len() as u64).ok_or(Unwritable)?;
        if wire.random.u8(..8) == 0 {
            return Err(Unwritable);
        }
        buffer.write(|buffer| buffer.copy_from_slice(bytes));
        Ok(())
    }
}

/// Writes a payload piece by piece to the memory that the sink lends, as far as it does.
fn place(
    wire: &RefCell<Wire>,
    sink: &mut dyn Sink,
    header: &Header,
    mut payload: &[u8],
) -> ControlFlow<()> {
    let mut rest = *header;
    loop {
        let piece = wire.borrow_mut().random.usize(..=payload.len());
        let placed = sink.place(&rest, &mut |memory| {
            assert_eq!(memory.len(), payload.len());
            memory[..piece].copy_from_slice(&payload[..piece]);
            piece
        });
        let Some(next) = placed else { return sink.take(&rest, payload) };
        payload = &payload[piece..];
        rest.size -= piece as u64;
        rest.offset += if rest.kind() == Kind::Data { piece as u64 } else { 0 };
        if payload.is_empty() {
            return next;
        }
    }
}

impl Wire {
    /// Bytes that a rank has exported.
    fn find(&self, rank: u32, address: u64, len: u64) -> Option<Span> {
        self.exported[rank as usize].iter().find_map(|region| {
            let offset = (address as usize).checked_sub(region.whole().address())? as u64;
            (offset + len <= region.len() as u64).then(|| region.span(offset, len))
        })
    }
}

fn contains(region: &Region, bytes: Span) -> bool {
    let start = region.whole().address();
    bytes.address() >= start && bytes.address() + bytes.len() <= start + region.len()
}

/// The behaviour of a network.
pub(super) struct Conditions {
    pub(super) seed: u64,
    pub(super) options: Options,
    pub(super) payload_max: usize,
    /// True if parts of longer messages have sizes of their own.
    pub(super) odd_parts: bool,
    /// True if ranks send more than the limit before a receive, or are asked for parts of messages
    /// by and by.
    pub(super) pushes: bool,
    pub(super) depth: usize,
    pub(super) direct: bool,
    /// True if peers read the payloads in place.
    pub(super) mapped: bool,
    /// Instances of the program, in two communicators by turns.
    pub(super) instances: usize,
    /// The times that each instance starts again. With it there may be one instance in each
    /// communicator, since ranks end several in different orders.
    pub(super) again: usize,
    /// True if schedules are executed from their sections, as long ones are.
    pub(super) in_place: bool,
}

impl Conditions {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let eager_limit = [0, 16, 100, 5000, 1 << 20][random.usize(..5)];
        let pushes = seed.is_multiple_of(5);
        let pushed_max = if pushes { 1 << 20 } else { 0 };
        let options = Options { eager_limit, pushed_max, ..Options::default() };
        Self {
            seed,
            options,
            payload_max: [8, 64, 1000, 8192][random.usize(..4)],
            odd_parts: seed.is_multiple_of(3),
            pushes,
            depth: [1, 3, 100][random.usize(..3)],
            direct: random.bool(),
            mapped: random.bool(),
            instances: 1,
            again: 0,
            in_place: random.bool(),
        }
    }
}

/// The end of a run.
#[derive(Debug)]
pub(super) enum End {
    /// All instances: each one's memory by rank and what matched what.
    Finished(Vec<(Vec<Vec<u8>>, Matches)>, Stats),
    Failed(u32, Failure),
    /// No rank made progress for long. Holds the event that each rank waits for.
    Stuck(Vec<Waiting>),
}

pub(super) fn run(program: &Program, conditions: &Conditions) -> End {
    run_all(std::slice::from_ref(program), conditions)
}

/// Runs instances of several programs for the same number of ranks at once, the programs taking
/// turns.
pub(super) fn run_all(programs: &[Program], conditions: &Conditions) -> End {
    let files: Vec<Arc<Nisa>> = programs.iter().map(nisa).collect();
    let ranks = files[0].num_ranks();
    let schedule = |nisa: &Arc<Nisa>, rank| {
        let schedule = Schedule::new(Arc::clone(nisa), rank, Seed::default());
        Arc::new(if conditions.in_place { schedule.in_place() } else { schedule })
    };
    let schedules: Vec<Vec<Arc<Schedule>>> =
        (0..ranks).map(|rank| files.iter().map(|nisa| schedule(nisa, rank)).collect()).collect();
    let of_instance = |rank: usize, i: usize| &schedules[rank][i % programs.len()];
    let storage = |rank, i| Storage::recording(of_instance(rank, i));
    let storages: Vec<Vec<Storage<'_>>> = (0..ranks as usize)
        .map(|rank| (0..conditions.instances).map(|i| storage(rank, i)).collect())
        .collect();
    let regions = |storages: &Vec<Storage<'_>>| {
        storages.iter().flat_map(|s| [s.home.memory.memory, s.home.memory.scratch]).collect()
    };
    let exported = match conditions.direct {
        true => storages.iter().map(regions).collect(),
        false => vec![Vec::new(); ranks as usize],
    };
    let wire = Rc::new(RefCell::new(Wire {
        queues: BTreeMap::new(),
        random: fastrand::Rng::with_seed(conditions.seed),
        exported,
        mapped: conditions.mapped,
        payload_max: conditions.payload_max,
        odd_parts: conditions.odd_parts,
        pushes: conditions.pushes,
        depth: conditions.depth,
        room: BTreeMap::new(),
    }));
    let mut engines = Vec::new();
    let mut handles = Vec::new();
    for (rank, storages) in storages.into_iter().enumerate() {
        let transport = SimTransport { rank: rank as u32, wire: Rc::clone(&wire) };
        let mut engine = Engine::new(rank as u32, transport, conditions.options, state());
        engine.register(1, Box::new(add_bytes));
        let (files, instances) = (files.clone(), conditions.instances);
        engine.bound_requests(move |source| {
            (0..instances).map(|i| sends(&files[i % files.len()], source, rank as u32)).sum()
        });
        let mut mine = VecDeque::new();
        for (i, storage) in storages.into_iter().enumerate() {
            mine.push_back(engine.start(of_instance(rank, i), i as u64 % 2, storage));
        }
        engines.push(engine);
        handles.push(mine);
    }
    let mut now = 0;
    let mut fruitless = 0;
    let mut waiting = vec![Waiting::Messages; ranks as usize];
    assert!(conditions.again == 0 || conditions.instances <= 2);
    let mut again = vec![vec![conditions.again; conditions.instances]; ranks as usize];
    let has_ended = |(engine, handles): (&Engine<'_, _>, &VecDeque<_>)| {
        handles.iter().all(|handle| engine.test(handle))
    };
    while again.iter().flatten().any(|&left| left > 0)
        || !engines.iter().zip(&handles).all(has_ended)
    {
        let rank = wire.borrow_mut().random.usize(..ranks as usize);
        now += 100;
        match engines[rank].poll(now) {
            Err(failure) => return End::Failed(rank as u32, failure),
            Ok(progress) => {
                fruitless = if progress.worked { 0 } else { fruitless + 1 };
                waiting[rank] = progress.waiting;
            }
        }
        if fruitless > 400 * ranks {
            return End::Stuck(waiting);
        }
        for (i, handle) in handles[rank].iter_mut().enumerate() {
            let left = &mut again[rank][i];
            if *left > 0 && engines[rank].test(handle) {
                *left -= 1;
                store_image(&files[i % files.len()], rank as u32, engines[rank].memory_mut(handle));
                engines[rank].start_again(handle);
            }
        }
    }
    let mut stats = Stats::default();
    let mut left: Vec<Vec<Storage<'_>>> = Vec::new();
    for (engine, handles) in engines.iter_mut().zip(handles) {
        left.push(handles.into_iter().map(|handle| engine.finish(handle)).collect());
        let other = engine.stats();
        stats.messages += other.messages;
        stats.bytes += other.bytes;
        stats.verified_bytes += other.verified_bytes;
        stats.unreceived += other.unreceived;
        stats.put_in_place += other.put_in_place;
        stats.unexpected_max = stats.unexpected_max.max(other.unexpected_max);
    }
    let outcomes = (0..conditions.instances).map(|i| {
        let memory = left.iter().map(|left| left[i].memory().to_vec()).collect();
        let which = i % programs.len();
        (
            memory,
            matches(&programs[which], &files[which], |rank| {
                left[rank][i].matches().expect("it is kept")
            }),
        )
    });
    End::Finished(outcomes.collect(), stats)
}

fn matches<'a>(program: &Program, nisa: &Nisa, record: impl Fn(usize) -> &'a [u64]) -> Matches {
    let mut matches = Matches::default();
    for rank in 0..nisa.num_ranks() {
        let recorded = MatchesView::new(record(rank as usize).to_vec());
        for (index, (offset, _)) in nisa.section(rank).records().enumerate() {
            let id = ActionId::new(index);
            let Some(Met { source, sequence }) = recorded.met(offset) else { continue };
            let sequence = u64::from(sequence);
            match program.body_of(rank).action(id) {
                Action::Send { .. } => drop(matches.sends.insert((rank, id), sequence)),
                Action::Recv { .. } => {
                    matches.receives.insert((rank, id), Taken { source, sequence });
                }
                _ => {}
            }
        }
    }
    matches
}

/// Stores the memory that a program begins with.
fn store_image(nisa: &Nisa, rank: u32, memory: &mut [u8]) {
    memory.fill(0);
    for value in nisa.image(rank).into_iter().flat_map(|image| image.init) {
        memory[value.addr as usize..][..value.bytes.len()].copy_from_slice(value.bytes);
    }
}
