//! The tokens that the grammar sees.

use super::plain::{Plain, PlainDependency};

/// A token in its context. Names are given by their length in bytes: they begin where the token
/// does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token {
    /// The parser starts with rank blocks.
    StartBlocks,
    /// The parser starts with bare statements.
    StartBare,
    /// The parser goes on inside a rank block, after an error.
    StartInside,
    Send,
    Recv,
    Calc,
    Exec,
    Nop,
    User,
    Requ,
    Requires,
    Irequires,
    To,
    From,
    With,
    Tag,
    Cpu,
    Nic,
    Any,
    Init,
    Expect,
    Scratch,
    Rank,
    NumRanks,
    /// A label and its colon.
    LabelDef(u32),
    /// A label before `requires` or `irequires`.
    Waiter(u32),
    /// A label after `requires`, `irequires`, `requ` or `->`.
    Name(u32),
    /// A word that is neither a keyword nor a label: a function, a datatype, a special value.
    Word(u32),
    /// A number; one that is too large for 64 bits counts as `u64::MAX`.
    Int(u64),
    Negative,
    Float,
    /// A number and `b`.
    Bytes(u64),
    Semicolon,
    Comma,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    At,
    Equals,
    Star,
    Arrow,
    Hash,
    /// A whole operation, label included.
    Plain(Plain),
    /// A whole dependency.
    PlainDependency(PlainDependency),
    /// Never in a program.
    Bad,
}

impl Token {
    /// Whether a statement can begin with this token.
    pub(crate) fn begins_statement(self) -> bool {
        use Token::*;
        matches!(
            self,
            Send | Recv
                | Calc
                | Exec
                | Nop
                | Requ
                | Init
                | Expect
                | Scratch
                | LabelDef(_)
                | Waiter(_)
                | Plain(_)
                | PlainDependency(_)
        )
    }
}
