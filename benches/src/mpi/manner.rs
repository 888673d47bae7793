//! Names the manner of an operation: plain, or harder for a library.

use super::samples::IN_A_ROW;

/// The manner of all operations in a row. The default is a plain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manner {
    /// The number of times that an operation is performed without a barrier between, if it is.
    pub(crate) in_a_row: Option<u32>,
    /// Nanoseconds by which one rank begins late, each rank in turn.
    pub(crate) late_ns: Option<u64>,
    /// Bytes of its own that each rank changes before each operation.
    pub(crate) cold: Option<u64>,
    /// True if another thread of each rank calls the library too.
    pub(crate) second_thread: bool,
    /// True if reductions add 64-bit floats.
    pub(crate) float64: bool,
}

impl Manner {
    /// Returns true if a schedule that the benchmark hands to the engine can be beside it.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what tells the rows from plain ones, behind the name of the operation.
    pub(crate) fn suffix(&self) -> String {
        let mut suffix = String::new();
        if let Some(times) = self.in_a_row {
            suffix += &format!("{IN_A_ROW}{times}");
        }
        if self.float64 {
            suffix += " float64";
        }
        if let Some(ns) = self.late_ns {
            suffix += &format!(" late {} us", ns as f64 / 1000.0);
        }
        if let Some(bytes) = self.cold {
            suffix += &format!(" cold {} KiB", bytes.div_ceil(1024));
        }
        if self.second_thread {
            suffix += " second thread";
        }
        suffix
    }

    /// Returns the words as the programs in C take them.
    pub(crate) fn words(&self) -> String {
        let number = |name: &str, of: Option<u64>| of.map(|of| format!("{name}={of}"));
        let word = |name: &str, is_so: bool| is_so.then(|| name.to_owned());
        let words = [
            number("row", self.in_a_row.map(u64::from)),
            number("late", self.late_ns),
            number("cold", self.cold),
            word("second-thread", self.second_thread),
            word("float64", self.float64),
        ];
        let words = words.into_iter().flatten().collect::<Vec<_>>().join(",");
        if words.is_empty() { "-".to_owned() } else { words }
    }
}

/// Returns the operation in the name of a row, without how it was performed.
pub(crate) fn operation_of(row: &str) -> &str {
    row.split(' ').next().unwrap_or(row)
}

#[cfg(test)]
mod tests {
    use super::{Manner, operation_of};

    #[test]
    fn rows_and_words() {
        let plain = Manner::default();
        assert_eq!((plain.suffix().as_str(), plain.words().as_str()), ("", "-"));
        let late = Manner { late_ns: Some(200), float64: true, ..plain };
        assert_eq!(late.suffix(), " float64 late 0.2 us");
        assert_eq!(late.words(), "late=200,float64");
        assert_eq!(operation_of(&format!("reduce{}", late.suffix())), "reduce");
        let cold = Manner { cold: Some(1 << 20), in_a_row: Some(100), ..plain };
        assert_eq!(cold.suffix(), " x 100 cold 1024 KiB");
        assert_eq!(cold.words(), "row=100,cold=1048576");
    }
}
