//! The one table of codes. G00xx: language; G01xx: binary formats; G02xx: running; G03xx:
//! whole-program checks.
//!
//! Each code has a page `docs/errors/<kind>.md` whose example is a test.

use crate::suggest::nearest;

/// The severity of a finding.
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
        /// The kind of a finding.
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

            /// The severity of a finding with this code, unless the finding is doubtful.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// The text that `goalc explain` shows for the code.
            pub const fn page(self) -> &'static str {
                match self { $(Code::$name => include_str!(concat!("../../../docs/errors/", $kind, ".md")),)* }
            }
        }
    };
}

codes! {
    /// The text is not GOAL.
    Syntax = 1, Error, "syntax";
    /// A dependency names a label that its rank doesn't have.
    UnknownLabel = 2, Error, "unknown-label";
    /// Two actions of a rank have the same label.
    DuplicateLabel = 3, Error, "duplicate-label";
    /// A message goes to or comes from a rank that isn't in the group.
    PeerOutOfRange = 4, Error, "peer-out-of-range";
    /// A block belongs to a rank that isn't in the group.
    RankOutOfRange = 5, Error, "rank-out-of-range";
    /// A rank of the group has no block.
    MissingRank = 6, Warning, "missing-rank";
    /// Actions wait for each other.
    Cycle = 7, Error, "cycle";
    /// A number is too large for the bits that it is stored in.
    NumberOverflow = 8, Error, "number-overflow";
    /// A keyword is used as a label.
    ReservedWord = 9, Error, "reserved-word";
    /// There is no such local operation.
    UnknownFunction = 10, Error, "unknown-function";
    /// The operation is not defined on the datatype.
    IllegalOperation = 11, Error, "illegal-operation";
    /// Operands of different sizes, or not a whole number of elements.
    WidthMismatch = 12, Error, "width-mismatch";
    /// A send to any rank or with any tag.
    WildcardSend = 13, Error, "wildcard-send";
    /// Two `init`s, or two `expect`s, cover one byte.
    OverlappingInit = 14, Error, "overlapping-init";
    /// A piece of 0 bytes, or an `init` or `expect` without values.
    EmptyPiece = 15, Error, "empty-piece";
    /// Operands of a local operation overlap in part.
    OverlappingOperands = 16, Error, "overlapping-operands";
    /// A buffer reaches past the rank's scratch memory.
    ScratchOutOfRange = 17, Error, "scratch-out-of-range";
    /// `num_ranks` is given twice, with different numbers.
    ConflictingNumRanks = 18, Error, "conflicting-num-ranks";
    /// The program asks for more than a limit allows.
    LimitExceeded = 19, Error, "limit-exceeded";
    /// An operation has the same attribute twice.
    DuplicateAttribute = 20, Error, "duplicate-attribute";
    /// A list of ranks names a rank twice.
    DuplicateRank = 21, Error, "duplicate-rank";
    /// There is no such datatype.
    UnknownDatatype = 22, Error, "unknown-datatype";
    /// The program has no rank.
    EmptyGroup = 23, Error, "empty-group";
    /// A value is not one of its datatype.
    InvalidValue = 24, Error, "invalid-value";
    /// A local operation has too few or too many operands.
    WrongOperands = 25, Error, "wrong-operands";
    /// Two actions of a rank have the same label, and no dependency names it.
    UnusedDuplicate = 26, Warning, "unused-duplicate";
    /// Ranks state a collective in different ways, or not all of them state it.
    CollectiveMismatch = 30, Error, "collective-mismatch";
    /// The list of groups that collective statements name is missing or wrong.
    CollectiveGroups = 31, Error, "collective-groups";
    /// A collective statement where only messages can be used.
    UnexpandedCollective = 32, Error, "unexpanded-collective";

    /// The bytes are not a NISA file, or one that lost or gained bytes.
    NisaFormat = 101, Error, "nisa-format";
    /// A NISA file of another format version, or with a part that this version doesn't know.
    NisaVersion = 102, Error, "nisa-version";
    /// Bytes of a NISA file were changed after it was written.
    NisaChecksum = 103, Error, "nisa-checksum";
    /// A NISA file asks for more than the limits of the reader allow.
    NisaLimit = 104, Error, "nisa-limit";
    /// An action of a NISA file is malformed or not allowed.
    NisaAction = 105, Error, "nisa-action";
    /// The dependencies of a NISA section contradict each other.
    NisaGraph = 106, Error, "nisa-graph";
    /// Init, expect or debug data of a NISA file is malformed.
    NisaData = 107, Error, "nisa-data";
    /// A schedule doesn't fit the NISA format.
    NisaOverflow = 108, Error, "nisa-overflow";
    /// The bytes are not a LogGOPSim binary schedule that can be used.
    LoggopsimFormat = 120, Error, "loggopsim-format";
    /// A schedule can't be written as a LogGOPSim binary.
    LoggopsimOverflow = 121, Error, "loggopsim-overflow";
    /// Something was left out of a LogGOPSim binary that the format has no place for.
    LoggopsimLoss = 122, Warning, "loggopsim-loss";
    /// A gzip stream is damaged.
    GzipFormat = 130, Error, "gzip-format";
    /// An input that must be held in memory is larger than the limit.
    InputLimit = 131, Error, "input-limit";
    /// The input is something else than GOAL: a script, a picture, text in UTF-16.
    ForeignFormat = 132, Error, "foreign-format";
    /// A zstd file is damaged.
    ZstdFormat = 133, Error, "zstd-format";
    /// A pass or a program handed to the compiler broke a rule of the program model.
    InvalidProgram = 140, Error, "invalid-program";
    /// A pass cannot do what it was asked for without breaking a rule.
    PassRefused = 141, Error, "pass-refused";
    /// A pass did less than it was asked for.
    PassNote = 142, Warning, "pass-note";
    /// A comment allows a finding that does not exist, or that cannot be allowed.
    UnknownAllow = 143, Warning, "unknown-allow";
    /// A collective statement can't be expanded into messages.
    CollectiveExpansion = 144, Error, "collective-expansion";

    /// Actions that can never end.
    Deadlock = 301, Error, "deadlock";
    /// A message that no receive takes.
    UnmatchedSend = 302, Error, "unmatched-send";
    /// A receive that no message comes for.
    UnmatchedRecv = 303, Error, "unmatched-recv";
    /// A message and its receive have different sizes.
    SizeMismatch = 304, Error, "size-mismatch";
    /// Two actions of a rank use the same bytes in no order, and one writes them.
    Race = 305, Error, "race";
    /// Scratch memory is read that nothing wrote.
    UninitialisedRead = 306, Error, "uninitialised-read";
    /// The program does not compute what its collective operation defines.
    Postcondition = 307, Error, "postcondition";
    /// Which receive takes which message depends on timing.
    TimingDependentMatch = 308, Warning, "timing-dependent-match";
    /// The program ends only where messages are sent before their receives are there.
    ReliesOnBuffering = 309, Warning, "relies-on-buffering";
    /// A received byte is overwritten before anything reads it.
    LostData = 310, Warning, "lost-data";
    /// Bytes are written as one datatype and, after a message, read as another.
    DatatypeMismatch = 311, Warning, "datatype-mismatch";
    /// A check did not look at all of the program, as that would take too long.
    CheckIncomplete = 312, Warning, "check-incomplete";
    /// Ranks combine the same inputs in different orders, where rounding depends on it.
    CombinationOrder = 313, Warning, "combination-order";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "G{:04}", *self as u16)
    }
}

impl Code {
    /// Returns the code that a text names: by its number, with or without `G` and leading zeros, or
    /// by its kind.
    pub fn named(text: &str) -> Option<Code> {
        let digits = text.strip_prefix(['G', 'g']).unwrap_or(text);
        let number = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number: Option<u16> = number.and_then(|digits| digits.parse().ok());
        let is_named =
            |code: &&Code| Some(**code as u16) == number || code.kind().eq_ignore_ascii_case(text);
        Code::ALL.iter().find(is_named).copied()
    }

    /// Returns the kind or code that is most similar to a text, if one is similar enough.
    pub fn nearest(text: &str) -> Option<String> {
        let text = text.to_ascii_lowercase();
        let kinds = Code::ALL.iter().map(|code| code.kind().as_bytes().to_vec());
        let codes = Code::ALL.iter().map(|code| code.to_string().to_ascii_lowercase().into_bytes());
        // Any two codes differ in a few digits only, so a wrong digit suggests nothing. Only kinds
        // are suggested, and codes for texts with a character too many or too few.
        let is_code =
            text.starts_with('g') && text.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        let near = match is_code {
            true => nearest(text.as_bytes(), codes.filter(|code| code.len() != text.len())),
            false => nearest(text.as_bytes(), kinds),
        };
        // Also finds words in another order, and parts of a kind.
        let part = || {
            let words: Vec<&str> =
                text.split(['-', '_', ' ']).filter(|word| word.len() > 2).collect();
            let has = |code: &&Code| {
                words.iter().all(|word| code.kind().split('-').any(|part| part == *word))
            };
            Code::ALL
                .iter()
                .find(has)
                .filter(|_| !words.is_empty())
                .map(|code| code.kind().to_owned())
        };
        match near {
            Some(near) if is_code => {
                String::from_utf8(near).ok().map(|code| code.to_ascii_uppercase())
            }
            Some(near) => String::from_utf8(near).ok(),
            None if is_code => None,
            None => part(),
        }
    }
}
