//! Defines the parameters of transports that are searched, and their values.

use goal_job::JobSpec;
use goal_job::transport::Found;

/// A parameter that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    EagerLimit,
    Ring,
    InitialBurst,
    Burst,
}

impl Parameter {
    /// Returns the parameters that matter: those of bursts only if there are several hosts.
    pub(crate) fn all(has_hosts: bool) -> &'static [Parameter] {
        let all = &[Self::EagerLimit, Self::Ring, Self::InitialBurst, Self::Burst];
        if has_hosts { all } else { &all[..2] }
    }

    /// Returns the option of goal-run that sets the parameter.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::EagerLimit => "--eager-limit",
            Self::Ring => "--ring",
            Self::InitialBurst => "--initial-burst",
            Self::Burst => "--burst",
        }
    }

    /// Returns the coarse grid of values, which are powers of four. Later the powers of two beside
    /// the best value are tried.
    fn grid(self) -> &'static [u64] {
        match self {
            Self::EagerLimit => &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18],
            Self::Ring => &[1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20],
            Self::InitialBurst => &[4, 16, 64, 256],
            Self::Burst => &[16, 64, 256],
        }
    }

    pub(crate) fn of(self, setting: &JobSpec) -> u64 {
        match self {
            Self::EagerLimit => setting.eager_limit,
            Self::Ring => setting.ring_bytes,
            Self::InitialBurst => setting.initial_burst.into(),
            Self::Burst => setting.burst.into(),
        }
    }

    /// Returns a setting with another value of this parameter. Returns `None` if the value is not
    /// allowed.
    fn with(self, setting: &JobSpec, value: u64) -> Option<JobSpec> {
        let mut other = setting.clone();
        match self {
            Self::EagerLimit => other.eager_limit = value,
            Self::Ring => other.ring_bytes = value,
            Self::InitialBurst => other.initial_burst = value.try_into().ok()?,
            Self::Burst => other.burst = value.try_into().ok()?,
        }
        other.check().is_ok().then_some(other)
    }

    /// Returns the settings of the coarse grid, without `setting`.
    pub(crate) fn coarse(self, setting: &JobSpec) -> Vec<JobSpec> {
        let others = self.grid().iter().filter(|&&value| value != self.of(setting));
        others.filter_map(|&value| self.with(setting, value)).collect()
    }

    /// Returns `setting`, and the two settings with half and with twice its value.
    pub(crate) fn fine(self, setting: &JobSpec) -> Vec<JobSpec> {
        let value = self.of(setting);
        let values = [value, value / 2, 2 * value];
        values.into_iter().filter_map(|value| self.with(setting, value)).collect()
    }
}

/// Returns the parameters of `setting` that differ from the defaults.
pub(crate) fn found(setting: &JobSpec, source: String) -> Found {
    let default = JobSpec::default();
    let differing = |parameter: Parameter| {
        let value = parameter.of(setting);
        (value != parameter.of(&default)).then_some(value)
    };
    Found {
        eager_limit: differing(Parameter::EagerLimit),
        ring_bytes: differing(Parameter::Ring),
        initial_burst: differing(Parameter::InitialBurst).map(|value| value as u16),
        burst: differing(Parameter::Burst).map(|value| value as u16),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_settings_are_tried() {
        let default = JobSpec::default();
        for &parameter in Parameter::all(true) {
            let coarse = parameter.coarse(&default);
            assert!(coarse.len() > 1 && !coarse.contains(&default), "{parameter:?}");
            for setting in coarse.iter().flat_map(|setting| parameter.fine(setting)) {
                assert!(setting.check().is_ok(), "{setting:?}");
            }
        }
        // An initial burst is never more than a burst.
        let short = Parameter::Burst.with(&default, 16).unwrap();
        let bursts: Vec<u64> = Parameter::InitialBurst
            .coarse(&short)
            .iter()
            .map(|s| Parameter::InitialBurst.of(s))
            .collect();
        assert_eq!(bursts, [4]);
        assert_eq!(Parameter::all(false), [Parameter::EagerLimit, Parameter::Ring]);
    }

    #[test]
    fn the_table_has_only_what_differs() {
        let setting = Parameter::Ring.with(&JobSpec::default(), 4096).unwrap();
        let found = found(&setting, "a measurement".to_owned());
        assert_eq!((found.ring_bytes, found.eager_limit, found.burst), (Some(4096), None, None));
        assert_eq!(found.spec(), setting);
    }
}
