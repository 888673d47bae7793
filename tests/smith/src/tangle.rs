//! Generates small programs whose messages compete. They have a few sends and receives with equal
//! tags and wildcards, and few dependencies. Each program comes to its end in at least one order of
//! events, even if all sends wait for their receives. In other orders many programs get stuck.

use goal_lang::{
    ANY, Action, ActionId, BodyBuilder, Payload, Piece, Placement, Program, ProgramBuilder, Space,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The sizes of messages, below and above the usual eager limit.
const SIZES: [u64; 3] = [8, 20_000, 0];

/// Returns the program of a seed. Its receives do not store their messages.
pub fn tangle(seed: u64) -> Program {
    of(seed, false)
}

/// Returns the program of a seed. Some of its receives store their messages, each at its own
/// address.
pub fn storing_tangle(seed: u64) -> Program {
    of(seed, true)
}

fn of(seed: u64, stores: bool) -> Program {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x7a_9613);
    let ranks = rng.random_range(2..=4u32);
    let tags = rng.random_range(1..=2);
    let usual = SIZES[usize::from(rng.random_bool(0.4))];
    let mut tangle = Tangle {
        bodies: (0..ranks).map(|_| (BodyBuilder::default(), Vec::new())).collect(),
        density: [0.1, 0.3, 0.6][rng.random_range(0..3)],
        rng,
    };
    for at in 0..tangle.rng.random_range(2..=6) {
        if tangle.rng.random_bool(0.1) {
            let rank = tangle.rng.random_range(0..ranks);
            tangle.add(rank, Action::Calc { nanos: 1, placement: Placement::default() });
        }
        let source = tangle.rng.random_range(0..ranks);
        // Many messages go to rank 0, so that messages compete.
        let to = if tangle.rng.random_bool(0.4) { 0 } else { tangle.rng.random_range(0..ranks) };
        let tag = tangle.rng.random_range(0..tags);
        let size =
            if tangle.rng.random_bool(0.9) { usual } else { SIZES[tangle.rng.random_range(0..3)] };
        let (payload, placement) = (Payload::Pattern { size }, Placement::default());
        let from = if tangle.rng.random_bool(0.3) { ANY } else { source };
        let wanted = if tangle.rng.random_bool(0.15) { ANY } else { tag };
        tangle.add(source, Action::Send { payload, to, tag, placement });
        let payload = match stores && tangle.rng.random_bool(0.5) {
            true => Payload::Buffer(Piece { space: Space::Memory, addr: at * SIZES[1], size }),
            false => payload,
        };
        tangle.add(to, Action::Recv { payload, from, tag: wanted, placement });
    }
    let mut program = ProgramBuilder::default();
    for (body, _) in tangle.bodies {
        program.rank_with(body.finish());
    }
    program.finish()
}

struct Tangle {
    bodies: Vec<(BodyBuilder, Vec<ActionId>)>,
    /// The probability that an action waits for an earlier one.
    density: f64,
    rng: ChaCha8Rng,
}

impl Tangle {
    /// Adds an action that waits for some earlier ones. A receive never waits for the end of the
    /// send of its own message, as both may be on one rank.
    fn add(&mut self, rank: u32, action: Action) {
        let (body, ids) = &mut self.bodies[rank as usize];
        let id = body.action(action);
        let is_recv = matches!(action, Action::Recv { .. });
        let earlier = ids.len() - usize::from(is_recv && !ids.is_empty());
        for &before in &ids[..earlier] {
            if self.rng.random_bool(self.density) {
                match self.rng.random_bool(0.3) {
                    true => body.irequires(id, before),
                    false => body.requires(id, before),
                }
            }
        }
        ids.push(id);
    }
}
