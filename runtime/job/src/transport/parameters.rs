//! Checks the parameters of transports that a job sets, and reads parameters that a measurement has
//! found.
//!
//! Threat: the environment of a launcher, which its user sets, names the file of measured
//! parameters. The file is text of limited length, which a library parses. Every number in it is
//! checked like a number of the command line.

use crate::limits::{
    BURST_MAX, INITIAL_BURST_MIN, RING_BYTES_MAX, RING_BYTES_MIN, TABLE_BYTES_MAX,
};
use crate::spec::JobSpec;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;

/// The error that a parameter is out of its limits.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// The number of bytes of a ring is out of its limits.
    #[error("a ring of {0} bytes: give a power of two from {RING_BYTES_MIN} to {RING_BYTES_MAX}")]
    Ring(u64),
    /// The initial burst is out of its limits.
    #[error(
        "an initial burst of {initial} packets, of at most {most} in flight: give {INITIAL_BURST_MIN} to {most}"
    )]
    InitialBurst {
        /// The packets of the initial burst.
        initial: u16,
        /// The most packets in flight.
        most: u16,
    },
    /// The most packets in flight are out of their limits.
    #[error("a burst of {0} packets: give {INITIAL_BURST_MIN} to {BURST_MAX}")]
    Burst(u16),
}

impl JobSpec {
    /// Checks the parameters of transports.
    ///
    /// # Errors
    /// [`ParameterError`] names the first parameter that is out of its limits.
    pub fn check(&self) -> Result<(), ParameterError> {
        let Self { ring_bytes, initial_burst: initial, burst: most, .. } = *self;
        if !ring_bytes.is_power_of_two() || !(RING_BYTES_MIN..=RING_BYTES_MAX).contains(&ring_bytes)
        {
            return Err(ParameterError::Ring(ring_bytes));
        }
        if !(INITIAL_BURST_MIN..=BURST_MAX).contains(&most) {
            return Err(ParameterError::Burst(most));
        }
        if !(INITIAL_BURST_MIN..=most).contains(&initial) {
            return Err(ParameterError::InitialBurst { initial, most });
        }
        Ok(())
    }
}

/// Parameters that a measurement has found to be better than their defaults. A missing parameter
/// has its default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The value for [`JobSpec::eager_limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager_limit: Option<u64>,
    /// The value for [`JobSpec::ring_bytes`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_bytes: Option<u64>,
    /// The value for [`JobSpec::initial_burst`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_burst: Option<u16>,
    /// The value for [`JobSpec::burst`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u16>,
    /// A text that describes the measurement.
    pub source: String,
}

impl Found {
    /// Sets the found parameters in `spec`, except those whose options are in `given`. Adds the
    /// options of the set parameters to `given`. If the initial burst is neither given nor found,
    /// reduces it to at most the burst.
    pub fn apply(&self, spec: &mut JobSpec, given: &mut Vec<&'static str>) {
        fn take<T>(to: &mut T, found: Option<T>, option: &'static str, given: &mut Vec<&str>) {
            if let Some(value) = found.filter(|_| !given.contains(&option)) {
                *to = value;
                given.push(option);
            }
        }
        take(&mut spec.eager_limit, self.eager_limit, "eager-limit", given);
        take(&mut spec.ring_bytes, self.ring_bytes, "ring", given);
        take(&mut spec.initial_burst, self.initial_burst, "initial-burst", given);
        take(&mut spec.burst, self.burst, "burst", given);
        if !given.contains(&"initial-burst") {
            spec.initial_burst = spec.initial_burst.min(spec.burst);
        }
    }

    /// Returns the default settings with the found parameters.
    pub fn spec(&self) -> JobSpec {
        let mut spec = JobSpec::default();
        self.apply(&mut spec, &mut vec![]);
        spec
    }
}

/// The part of a table of decisions that has the parameters of transports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The parameters for jobs on one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_host: Option<Found>,
    /// The parameters for jobs on several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub several_hosts: Option<Found>,
}

/// The reason why a table's part about transports can't be used.
#[derive(Debug, Error)]
pub enum TunedError {
    /// The table can't be read.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The table is longer than [`TABLE_BYTES_MAX`].
    #[error("more than {TABLE_BYTES_MAX} bytes are no table of decisions")]
    TooLong,
    /// The text is no table of decisions.
    #[error("it is no table of decisions: {0}")]
    Syntax(#[from] serde_json::Error),
    /// A parameter is out of its limits.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl Tuned {
    /// Reads the part about transports of the table of decisions in a file. If the table has no
    /// such part, returns the default.
    ///
    /// # Errors
    /// [`TunedError`].
    pub fn read(path: &Path) -> Result<Self, TunedError> {
        let mut text = String::new();
        let mut file = File::open(path)?.take(TABLE_BYTES_MAX + 1);
        if file.read_to_string(&mut text)? as u64 > TABLE_BYTES_MAX {
            return Err(TunedError::TooLong);
        }
        Self::parse(&text)
    }

    /// Parses the part about transports from the text of a table of decisions. If the table has no
    /// such part, returns the default.
    ///
    /// # Errors
    /// [`TunedError`].
    pub fn parse(text: &str) -> Result<Self, TunedError> {
        let mut table: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
        let transports = table.remove("transports");
        let tuned = transports.map(serde_json::from_value::<Self>).transpose()?.unwrap_or_default();
        for found in tuned.one_host.iter().chain(&tuned.several_hosts) {
            found.spec().check()?;
        }
        Ok(tuned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_their_limits_are_refused_with_a_way_out() {
        let default = JobSpec::default();
        assert_eq!(default.check(), Ok(()));
        let refused = |spec: JobSpec| spec.check().unwrap_err().to_string();
        for ring_bytes in [0, 2048, 5000, 2 << 20, u64::MAX] {
            let why = refused(JobSpec { ring_bytes, ..default.clone() });
            assert!(why.ends_with("give a power of two from 4096 to 1048576"), "{why}");
        }
        for burst in [0, 1, 257] {
            let why = refused(JobSpec { burst, ..default.clone() });
            assert_eq!(why, format!("a burst of {burst} packets: give 2 to 256"));
        }
        let why = refused(JobSpec { initial_burst: 9, burst: 8, ..default.clone() });
        assert!(why.ends_with("of at most 8 in flight: give 2 to 8"), "{why}");
        refused(JobSpec { initial_burst: 1, ..default });
    }

    #[test]
    fn a_table_may_say_nothing_of_transports() {
        let tuned = |text: &str| Tuned::parse(text);
        assert_eq!(tuned(r#"{"measured": "", "rules": []}"#).unwrap(), Tuned::default());
        let text =
            r#"{"rules": [], "transports": {"one_host": {"ring_bytes": 8192, "source": ""}}}"#;
        let found = tuned(text).unwrap().one_host.unwrap();
        let default = JobSpec::default();
        assert_eq!(found.spec(), JobSpec { ring_bytes: 8192, ..default });
        for (wrong, why) in [
            ("{", "no table of decisions"),
            ("[]", "no table of decisions"),
            (r#"{"transports": {"one_host": {"ring": 8192, "source": ""}}}"#, "unknown field"),
            (r#"{"transports": {"several_hosts": {"burst": 0, "source": ""}}}"#, "a burst of 0"),
            (r#"{"transports": {"one_host": {"burst": -1, "source": ""}}}"#, "no table"),
        ] {
            let error = tuned(wrong).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(matches!(Tuned::read(Path::new("/dev/zero")), Err(TunedError::TooLong)));
        assert!(matches!(Tuned::read(Path::new("/nothing")), Err(TunedError::System(_))));
    }
}
