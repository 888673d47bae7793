//! When the processors and both sides of the interfaces of all ranks are free.
//!
//! The numbers of processors come from the program, which may name processor 65535 in a rank alone.
//! So a table of all numbers of all ranks is made only if it is about as large as the program.

use crate::workload::Workload;
use rustc_hash::FxHashMap;

/// The words that a table may have beyond some for each action.
const SLACK: usize = 1 << 17;
/// The words for each action.
const WORDS: usize = 16;
/// The words of a line of the cache.
const LINE: usize = 8;

/// A line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct CacheLine([u64; LINE]);

/// The use of a pair of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The time at which a processor is free, and a word for what waits for it.
    Cpu,
    /// The times at which an interface is free for sending and for receiving.
    Nic,
    /// Two words for what waits for a processor and an interface.
    Both,
}

/// The words of all ranks: 0 at first. Those of a rank lie in one line if it has one processor and
/// one interface.
#[derive(Debug)]
pub(super) struct Units {
    lines: Vec<CacheLine>,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Dense { cpus: usize, nics: usize, stride: usize },
    Sparse { ranks: usize, places: FxHashMap<u64, usize>, len: usize },
}

impl Units {
    pub(super) fn new(workload: &Workload) -> Self {
        let (ranks, cpus, nics) = (workload.num_ranks(), workload.cpus, workload.nics);
        let needed = 2 * (cpus + nics + cpus * nics);
        let stride = if needed <= LINE { LINE } else { needed };
        match ranks.saturating_mul(stride) {
            words if words <= WORDS * workload.len() + SLACK => Self {
                lines: vec![CacheLine([0; LINE]); words.div_ceil(LINE)],
                shape: Shape::Dense { cpus, nics, stride },
            },
            _ => Self {
                lines: Vec::new(),
                shape: Shape::Sparse { ranks, places: FxHashMap::default(), len: 0 },
            },
        }
    }

    /// Returns the place of a processor: the time at which it is free. Behind it is a word more.
    #[inline]
    pub(super) fn cpu(&mut self, rank: u32, cpu: u16) -> usize {
        match self.shape {
            Shape::Dense { stride, .. } => rank as usize * stride + 2 * usize::from(cpu),
            Shape::Sparse { .. } => self.find(Use::Cpu, rank, cpu, 0),
        }
    }

    /// Returns the place of an interface: when it is free for sending. Behind it is the time for
    /// receiving.
    #[inline]
    pub(super) fn nic(&mut self, rank: u32, nic: u8) -> usize {
        match self.shape {
            Shape::Dense { cpus, stride, .. } => {
                rank as usize * stride + 2 * (cpus + usize::from(nic))
            }
            Shape::Sparse { .. } => self.find(Use::Nic, rank, 0, nic),
        }
    }

    /// Returns the place of two words for a processor together with an interface.
    #[inline]
    pub(super) fn both(&mut self, rank: u32, cpu: u16, nic: u8) -> usize {
        match self.shape {
            Shape::Dense { cpus, nics, stride } => {
                let before = cpus + nics + usize::from(cpu) * nics + usize::from(nic);
                rank as usize * stride + 2 * before
            }
            Shape::Sparse { .. } => self.find(Use::Both, rank, cpu, nic),
        }
    }

    /// Returns the place of a pair of words, which it makes if there is none.
    fn find(&mut self, usage: Use, rank: u32, cpu: u16, nic: u8) -> usize {
        let Shape::Sparse { places, len, .. } = &mut self.shape else { return 0 };
        let place = *places.entry(key(usage, rank, cpu, nic)).or_insert_with(|| {
            *len += 2;
            *len - 2
        });
        self.lines.resize(len.div_ceil(LINE), CacheLine([0; LINE]));
        place
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> u64 {
        self.lines[place / LINE].0[place % LINE]
    }

    /// Reads the first words of a rank into the cache.
    #[inline]
    pub(super) fn read(&self, rank: u32) {
        if let Shape::Dense { stride, .. } = self.shape {
            std::hint::black_box(self.get(rank as usize * stride));
        }
    }

    #[inline]
    pub(super) fn set(&mut self, place: usize, word: u64) {
        self.lines[place / LINE].0[place % LINE] = word;
    }

    /// Makes a free time at least `time`.
    pub(super) fn raise(&mut self, place: usize, time: u64) {
        self.set(place, self.get(place).max(time));
    }

    /// Returns by rank when its last processor is free.
    pub(super) fn finish(&self) -> Vec<u64> {
        match self.shape {
            Shape::Dense { cpus, stride, .. } => (0..self.lines.len() * LINE / stride)
                .map(|rank| {
                    let cpus = (0..cpus).map(|cpu| self.get(rank * stride + 2 * cpu));
                    cpus.max().unwrap_or_default()
                })
                .collect(),
            Shape::Sparse { ranks, ref places, .. } => {
                let mut finish = vec![0; ranks];
                for (&key, &place) in places {
                    if key >> 56 == Use::Cpu as u64 {
                        let known: &mut u64 = &mut finish[(key >> 24) as u32 as usize];
                        *known = self.get(place).max(*known);
                    }
                }
                finish
            }
        }
    }
}

fn key(usage: Use, rank: u32, cpu: u16, nic: u8) -> u64 {
    (usage as u64) << 56 | u64::from(rank) << 24 | u64::from(cpu) << 8 | u64::from(nic)
}
