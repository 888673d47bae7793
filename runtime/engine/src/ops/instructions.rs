//! The instruction sets that the loops are compiled for, and the choice of one at run time.
//!
//! A [`Kernels`] holds one function for each operation and type, all compiled for one instruction
//! set from the same source. The results are the same bits in each set: no loop combines elements
//! with each other, and the compiler does not fuse a product with a sum.
//!
//! The set with vectors of 64 bytes is only used on processors that have VBMI2. Older processors,
//! up to Cooper Lake, lower their clock for a millisecond once such vectors occur. This costs the
//! rest of the program more than the loops gain.

use super::kernels::{Kernels, baseline};
#[cfg(target_arch = "x86_64")]
use super::kernels::{avx2, avx512};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A set of instructions that predefined operations can be computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// The instructions that every processor of the architecture has.
    Baseline,
    /// Vectors of 32 bytes.
    Avx2,
    /// Vectors of 64 bytes, on processors that don't slow down with them.
    Avx512,
}

/// The set in use, as its place in [`InstructionSet::ALL`]; another number before the first use.
static IN_USE: AtomicUsize = AtomicUsize::new(usize::MAX);

impl InstructionSet {
    /// Every set. A later one is faster.
    pub const ALL: [InstructionSet; 3] =
        [InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512];

    /// Returns true if this processor has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            InstructionSet::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                InstructionSet::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            InstructionSet::Avx2 | InstructionSet::Avx512 => false,
        }
    }

    /// Returns the set that this process uses: the fastest available one, if none was selected.
    pub fn in_use() -> Self {
        let index = IN_USE.load(Ordering::Relaxed);
        Self::ALL.get(index).copied().unwrap_or_else(Self::use_fastest)
    }

    /// Uses this set in the whole process, from the next operation on. Returns false, with no
    /// effect, if it is not available.
    pub fn select(self) -> bool {
        let is_available = self.is_available();
        if is_available {
            // Relaxed: no other memory depends on the set, and every set gives the same results.
            IN_USE.store(self as usize, Ordering::Relaxed);
        }
        is_available
    }

    #[cold]
    fn use_fastest() -> Self {
        let fastest = Self::ALL.into_iter().rfind(|set| set.is_available());
        let fastest = fastest.unwrap_or(InstructionSet::Baseline);
        fastest.select();
        fastest
    }

    /// Returns the loops in this set.
    ///
    /// # Panics
    /// If it is not available.
    #[cfg(test)]
    pub(super) fn kernels(self) -> &'static Kernels {
        assert!(self.is_available(), "{self} is not available");
        KERNELS[self as usize]
    }
}

/// The loops of each set of [`InstructionSet::ALL`].
static KERNELS: [&Kernels; InstructionSet::ALL.len()] = [
    &baseline::KERNELS,
    #[cfg(target_arch = "x86_64")]
    &avx2::KERNELS,
    #[cfg(target_arch = "x86_64")]
    &avx512::KERNELS,
    #[cfg(not(target_arch = "x86_64"))]
    &baseline::KERNELS,
    #[cfg(not(target_arch = "x86_64"))]
    &baseline::KERNELS,
];

/// Returns the loops in the set that is in use.
#[inline(always)]
pub(super) fn kernels() -> &'static Kernels {
    // `IN_USE` names only sets that are available.
    match KERNELS.get(IN_USE.load(Ordering::Relaxed)) {
        Some(kernels) => kernels,
        None => KERNELS[InstructionSet::use_fastest() as usize],
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InstructionSet::Baseline => "baseline",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512 => "avx512",
        })
    }
}
