//! Defines the names of a setting's values, for command lines and reports.

use goal_eth::DriverKind;

/// A setting whose values have names, for command lines and reports.
pub trait Named: Copy + PartialEq + Send + Sync + 'static {
    /// Every value with its name and its help text, in the order of the help.
    const NAMES: &'static [(Self, &'static str, &'static str)];

    /// Returns the name of the value.
    fn name(self) -> &'static str {
        let row = Self::NAMES.iter().find(|(value, ..)| *value == self);
        row.map_or("", |(_, name, _)| name)
    }

    /// Returns the value with this name; `None` if there is none.
    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, other, _)| *other == name).map(|&(value, ..)| value)
    }
}

impl Named for DriverKind {
    const NAMES: &'static [(Self, &'static str, &'static str)] = &[
        (DriverKind::Packet, "packet", "Packet sockets, which every Linux has"),
        (
            DriverKind::Xdp,
            "xdp",
            "Sockets of AF_XDP where they can be had, and packet sockets where not",
        ),
    ];
}
