//! The one table of codes. G00xx: language; G01xx: binary formats; G02xx: running; G03xx: whole-program checks.
//!
//! Each code has a page `docs/errors/<code>.md` whose example is a test.

/// Whether a finding stops the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but probably says something else than meant.
    Warning,
}

impl Severity {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $severity:ident, $kind:literal;)*) => {
        /// What kind of finding a diagnostic is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Code { $($(#[$doc])* $name = $number,)* }

        impl Code {
            /// Every code, ascending.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The name in JSON reports.
            pub const fn kind(self) -> &'static str {
                match self { $(Code::$name => $kind,)* }
            }

            /// How serious it is.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// The page of `goalc explain`.
            pub const fn page(self) -> &'static str {
                match self { $(Code::$name => include_str!(concat!("../../../docs/errors/", $kind, ".md")),)* }
            }
        }
    };
}

codes! {
    /// The text is not GOAL.
    Syntax = 1, Error, "syntax";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "G{:04}", *self as u16)
    }
}
