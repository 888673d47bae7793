//! The tokens that the grammar sees.

use crate::relative::Sign;

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
    /// `rank` and the sign behind it, before a number: a peer relative to the rank. The token ends
    /// with the word.
    Relative(Sign),
    NumRanks,
    Coll,
    /// A collective or one end of a message, as NCCL names them.
    Nccl(u32),
    ByteCount,
    Comm,
    Gpu,
    Stream,
    Seq,
    End,
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
    /// Several whole statements: the number of the buffer that holds them.
    Batch(u8),
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
                | Coll
                | Nccl(_)
                | LabelDef(_)
                | Waiter(_)
                | Plain(_)
                | PlainDependency(_)
                | Batch(_)
        )
    }
}

/// The kind of a plain operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainKind {
    Send,
    Recv,
    Calc,
}

/// A plain operation: `[LABEL:] send SIZEb to RANK [tag T] [cpu C] [nic N]`, `[LABEL:] recv SIZEb
/// from RANK ...`, or `[LABEL:] calc NANOS [cpu C] [nic N]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    /// The bytes of a message, or the nanoseconds of a calc.
    pub(crate) size: u64,
    /// Length of the label at the statement's beginning, or 0 if there is none.
    pub(crate) label: u32,
    /// The other rank of a message, or 0 for a calc.
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    pub(crate) cpu: u16,
    pub(crate) nic: u8,
    pub(crate) kind: PlainKind,
}

/// A plain dependency: `WAITER requires NAME` or `WAITER irequires NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlainDependency {
    /// The length of the waiting action's label, which begins the statement.
    pub(crate) waiter: u32,
    /// The start of the label behind the keyword, counted from the statement's beginning.
    pub(crate) name: u32,
    pub(crate) name_len: u32,
    /// True for `irequires`: the action waits only for the start of the other one.
    pub(crate) start: bool,
}

/// A token and its bounds: the form in which LALRPOP takes it.
pub(crate) type Spanned = (usize, Token, usize);
