//! Programs in phases, in which pairs of ranks exchange several small messages at once.

use fastrand::Rng;
use goal_lang::{
    Action, ActionId, BodyBuilder, Datatype, Datum, MemoryImage, Payload, Piece, Placement,
    Program, ProgramBuilder, Space,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// The number of initialised bytes of a rank.
const INIT: u64 = 32;

/// Largest message in bytes.
const SIZE_MAX: u64 = 8;

/// The tag of messages that dependencies order; the others have tags of their own.
const ORDERED: u32 = 1000;

/// A rank under construction.
#[derive(Debug, Default)]
struct Rank {
    body: BodyBuilder,
    /// The receives of the phase before, and the bytes that they wrote.
    before: Vec<ActionId>,
    written: Range<u64>,
    /// The receives of this phase.
    recvs: Vec<ActionId>,
    free: u64,
}

impl Rank {
    fn payload(&mut self, random: &mut Rng, addr: u64, size: u64) -> Payload {
        let piece = |addr, size| Piece { addr, size, space: Space::Memory };
        match size {
            2.. if random.u8(..4) == 0 => {
                Payload::Vector(self.body.pieces(&[piece(addr + 1, size - 1), piece(addr, 1)]))
            }
            _ => Payload::Buffer(piece(addr, size)),
        }
    }

    /// A buffer with bytes received in the phase before if `is_there` is true and they are enough,
    /// otherwise with initial bytes.
    fn source(&mut self, random: &mut Rng, size: u64, is_there: bool) -> Payload {
        let range = if is_there && self.written.end >= self.written.start + size {
            self.written.clone()
        } else {
            0..INIT
        };
        let addr = random.u64(range.start..=range.end - size);
        self.payload(random, addr, size)
    }

    fn wait(&mut self, id: ActionId, for_ends: bool) {
        for &earlier in &self.before {
            match for_ends {
                true => self.body.requires(id, earlier),
                false => self.body.irequires(id, earlier),
            }
        }
    }

    fn next_phase(&mut self, start: u64) {
        self.written = start..self.free;
        self.before = std::mem::take(&mut self.recvs);
    }
}

/// Ranks mostly send bytes that they received in the phase before. Some messages wait for less or
/// for more than others of their phase, some are patterns, and some share a tag with others.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Rng::with_seed(seed);
    let count = random.u32(2..=4);
    let mut ranks: Vec<Rank> = (0..count).map(|_| Rank { free: INIT, ..Rank::default() }).collect();
    let mut last = BTreeMap::new();
    for phase in 0..random.u32(1..=3) {
        let starts: Vec<u64> = ranks.iter().map(|rank| rank.free).collect();
        let pairs = (0..count).flat_map(|source| (0..count).map(move |target| (source, target)));
        for (source, target) in pairs.filter(|_| random.bool()).collect::<Vec<_>>() {
            for number in 0..random.u32(1..=5) {
                let tag = if random.u8(..8) == 0 { ORDERED } else { 10 * phase + number };
                let [send, recv] = message(&mut random, &mut ranks, source, target, tag);
                if tag == ORDERED
                    && let Some([send_before, recv_before]) =
                        last.insert((source, target), [send, recv])
                {
                    ranks[source as usize].body.irequires(send, send_before);
                    ranks[target as usize].body.irequires(recv, recv_before);
                }
            }
        }
        ranks.iter_mut().zip(starts).for_each(|(rank, start)| rank.next_phase(start));
    }
    let mut program = ProgramBuilder::default();
    for (rank, made) in ranks.into_iter().enumerate() {
        let bytes: Vec<u8> = (0..INIT as u8).map(|at| at * 7 + rank as u8 + 1).collect();
        let datum = Datum { addr: 0, datatype: Datatype::UInt8, bytes };
        let image = program.image(MemoryImage { init: vec![datum], ..MemoryImage::default() });
        let body = program.body(made.body.finish());
        program.rank(body, Some(image));
    }
    program.finish()
}

fn message(
    random: &mut Rng,
    ranks: &mut [Rank],
    source: u32,
    target: u32,
    tag: u32,
) -> [ActionId; 2] {
    let size = random.u64(1..=SIZE_MAX);
    let placement = Placement { cpu: 0, nic: u8::from(random.u8(..16) == 0) };
    let is_pattern = random.u8(..8) == 0;
    let [kind, recv_kind] = [random.u8(..16), random.u8(..16)];
    let sender = &mut ranks[source as usize];
    let mut payload = sender.source(random, size, kind > 0);
    if is_pattern {
        payload = Payload::Pattern { size };
    }
    let send = sender.body.action(Action::Send { payload, to: target, tag, placement });
    sender.wait(send, kind > 0);
    let receiver = &mut ranks[target as usize];
    let addr = receiver.free;
    receiver.free += size + random.u64(..2);
    payload = receiver.payload(random, addr, size);
    if is_pattern {
        payload = Payload::Pattern { size };
    }
    let recv = receiver.body.action(Action::Recv {
        payload,
        from: source,
        tag,
        placement: Placement::default(),
    });
    if recv_kind == 0 {
        receiver.wait(recv, true);
    }
    receiver.recvs.push(recv);
    [send, recv]
}
