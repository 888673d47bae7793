//! The time that a larger parameter of the machine adds to a run.

use super::step::{Cost, Path};

/// The derivatives of the time of a run by the parameters of the machine, on its critical path.
///
/// They hold to the next machine on which the run has another critical path. If several paths take
/// the time of the run, the one with the most latencies counts. So `latency` is the derivative to
/// the right, as long as no job overtakes another one in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sensitivity {
    /// `dT/dL`: latencies.
    pub latency: u64,
    /// `dT/do`: overheads.
    pub overhead: u64,
    /// `dT/dg`: gaps.
    pub gap: u64,
    /// `dT/dG`: bytes.
    pub gap_per_byte: u64,
    /// `dT/dO`: bytes.
    pub overhead_per_byte: u64,
    /// The time of computations in picoseconds.
    pub computation_ps: u64,
}

impl Sensitivity {
    /// Returns the derivatives with the letters of their parameters.
    pub const fn by_name(&self) -> [(&'static str, u64); 5] {
        [
            ("L", self.latency),
            ("o", self.overhead),
            ("g", self.gap),
            ("G", self.gap_per_byte),
            ("O", self.overhead_per_byte),
        ]
    }
}

impl Path {
    /// Returns the derivatives of the time by the parameters of the machine.
    pub fn sensitivity(&self) -> Sensitivity {
        let mut sum = Sensitivity::default();
        for step in &self.steps {
            let units = match step.cost {
                Cost::Computation => &mut sum.computation_ps,
                Cost::Overhead => &mut sum.overhead,
                Cost::OverheadPerByte => &mut sum.overhead_per_byte,
                Cost::Latency => &mut sum.latency,
                Cost::Gap => &mut sum.gap,
                Cost::GapPerByte => &mut sum.gap_per_byte,
            };
            *units = units.saturating_add(step.units);
        }
        sum
    }
}
