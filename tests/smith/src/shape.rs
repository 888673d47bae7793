//! Defines the shapes of random programs.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The bounds and switches of the generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The least and the greatest number of ranks.
    pub ranks: (u32, u32),
    /// The least and the greatest number of events. An event adds one to about ten actions.
    pub events: (u32, u32),
    /// The size of a rank's memory in bytes.
    pub memory: u64,
    /// The size of a rank's scratch memory in bytes; 0 for none.
    pub scratch: u64,
    /// The most bytes of a message. A message with addresses must also fit into the memory.
    pub message_max: u64,
    /// The most bytes of an operand of a local operation.
    pub operand_max: u64,
    /// Allows receives from any source and with any tag.
    pub wildcards: bool,
    /// Allows scattered buffers.
    pub vectors: bool,
    /// Allows random `irequires` dependencies, and messages whose order depends on them.
    pub start_dependencies: bool,
    /// Allows messages from a rank to itself.
    pub self_messages: bool,
    /// Allows receives that combine their message with their buffer, and sends that compute their
    /// message.
    pub reductions: bool,
    /// Allows payloads without an address (`Nb`) at random. A message without bytes, or without
    /// room in any buffer, always has such a payload.
    pub patterns: bool,
    /// Allows operations on floating-point numbers.
    pub floats: bool,
    /// Allows stores of the time, which is different in every run.
    pub wtime: bool,
    /// Allows ranks with the same body.
    pub shared_bodies: bool,
    /// The longest calc in nanoseconds.
    pub calc_nanos_max: u64,
    /// Allows programs whose final memory depends on which message a wildcard receive takes, or on
    /// the order of sends.
    pub outcomes_may_differ: bool,
}

impl Default for Shape {
    /// Returns a shape of small programs with one outcome. They have everything except `wtime`.
    fn default() -> Self {
        Self {
            ranks: (2, 6),
            events: (5, 40),
            memory: 320,
            scratch: 64,
            message_max: 96,
            operand_max: 64,
            wildcards: true,
            vectors: true,
            start_dependencies: true,
            self_messages: true,
            reductions: true,
            patterns: true,
            floats: true,
            wtime: false,
            shared_bodies: true,
            calc_nanos_max: 1000,
            outcomes_may_differ: false,
        }
    }
}

impl Shape {
    /// Returns a shape with a few messages of up to 200 kB, below and above every usual eager
    /// limit.
    pub fn large_messages() -> Self {
        Self {
            ranks: (2, 3),
            events: (3, 10),
            memory: 400_000,
            message_max: 200_000,
            operand_max: 100_000,
            ..Self::default()
        }
    }

    /// Returns a shape with short messages and messages of up to a few Ethernet frames. Many are
    /// combined with the buffer of their receive.
    pub fn reductions() -> Self {
        Self {
            ranks: (2, 4),
            events: (20, 60),
            memory: 20_000,
            message_max: 6000,
            operand_max: 1000,
            vectors: false,
            ..Self::default()
        }
    }

    /// Returns a shape with so few messages that all outcomes can be listed.
    pub fn several_outcomes() -> Self {
        Self {
            ranks: (2, 4),
            events: (2, 6),
            memory: 96,
            message_max: 24,
            outcomes_may_differ: true,
            ..Self::default()
        }
    }

    /// Returns a shape of small programs that mostly have only what a linked run knows.
    pub fn linked(seed: u64) -> Self {
        Self {
            events: (1, 2 + (seed % 12) as u32),
            message_max: [8, 60, 300][(seed % 3) as usize],
            memory: 600,
            scratch: [0, 300][(seed % 2) as usize],
            wildcards: false,
            vectors: false,
            start_dependencies: false,
            self_messages: false,
            patterns: false,
            calc_nanos_max: 0,
            ..Self::default()
        }
    }

    /// Returns a shape with random bounds and switches, and one outcome. It is for tests of
    /// thousands of seeds.
    pub fn varied(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed_5eed);
        let ranks_max = rng.random_range(1..=6);
        let events_max = [6, 20, 60][rng.random_range(0..3)];
        let memory = [64, 320, 2000, 9000][rng.random_range(0..4)];
        Self {
            ranks: (ranks_max.min(2), ranks_max),
            events: (1, events_max),
            memory,
            scratch: [0, 32, 200][rng.random_range(0..3)],
            message_max: [24, 100, 600, 6000][rng.random_range(0..4)],
            operand_max: [16, 64, 1000][rng.random_range(0..3)],
            wildcards: rng.random(),
            vectors: rng.random(),
            start_dependencies: rng.random(),
            self_messages: rng.random(),
            patterns: rng.random(),
            floats: rng.random(),
            wtime: rng.random_bool(0.2),
            shared_bodies: rng.random(),
            calc_nanos_max: 1000,
            outcomes_may_differ: false,
            reductions: rng.random(),
        }
    }
}
