//! The tokens that the grammar sees.

use super::plain::{Plain, PlainDependency};

/// A token in its context. A name is given by its length in bytes; it begins at the token's start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token {
    /// Start token: the text consists of rank blocks.
    StartBlocks,
    /// Start token: the text consists of bare statements.
    StartBare,
    /// Start token: the parser continues inside a rank block after an error.
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
    /// The label of the waiting action, before `requires` or `irequires`.
    Waiter(u32),
    /// A label after `requires`, `irequires`, `requ` or `->`.
    Name(u32),
    /// A word that is neither a keyword nor a label: a function, a datatype, a special value.
    Word(u32),
    /// A number. A value that exceeds 64 bits becomes `u64::MAX`.
    Int(u64),
    Negative,
    Float,
    /// A size of bytes: a number and `b`.
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
    /// Bytes that are no token of the language.
    Bad,
}

impl Token {
    /// Returns true if a statement can begin with this token.
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
