//! Recognises traces and schedules of other tools of the field, and says which tool makes GOAL of
//! them.
//!
//! The bytes may be any. They are looked at only after the grammar or the reader of binaries has
//! refused them, so no program is taken for something else. All reads are inside the bytes given.

use goal_lang::diag::{Code, Diagnostic};
use goal_lang::{Source, Span};

/// Returns what an input is and the way out, if it is a form that another tool writes.
pub(super) fn recognised(bytes: &[u8]) -> Option<String> {
    let form = FORMS.iter().find(|form| (form.is)(bytes))?;
    Some(format!("{}, not GOAL: {}", form.name, form.way))
}

/// A form that another tool writes.
struct Form {
    is: fn(&[u8]) -> bool,
    name: &'static str,
    way: &'static str,
}

const NO_TOOL: &str = "no public tool makes GOAL of it; record the run with nsys, and ATLAHS's nccl_goal_generator makes GOAL of that";

const FORMS: [Form; 7] = [
    Form { is: is_chakra, name: "a Chakra execution trace", way: NO_TOOL },
    Form {
        is: |bytes| {
            begins(bytes, b"{")
                && (has(bytes, b"\"ctrl_deps\"") || has(bytes, b"\"ctrlDeps\""))
                && !has(bytes, b"-chakra")
        },
        name: "a Chakra execution trace (JSON)",
        way: NO_TOOL,
    },
    Form {
        is: |bytes| begins(bytes, b"{") && has(bytes, b"-chakra"),
        name: "a PyTorch execution trace",
        way: NO_TOOL,
    },
    Form {
        is: |bytes| begins(bytes, b"SQLite format 3\0"),
        name: "a database (SQLite)",
        way: "if nsys wrote it, ATLAHS's nccl_goal_generator makes GOAL of it",
    },
    Form {
        is: |bytes| begins(bytes, b"<algo ") || begins(bytes, b"<?xml") && has(bytes, b"<algo "),
        name: "an algorithm of MSCCL (XML)",
        way: "no public tool makes GOAL of it; `goalc gen` writes programs of collectives",
    },
    Form {
        is: |bytes| begins(bytes, b"{") && has(bytes, b"\"collective\"") && has(bytes, b"\"gpus\""),
        name: "an execution plan of MSCCL++ (JSON)",
        way: "no public tool makes GOAL of it; `goalc gen` writes programs of collectives",
    },
    Form {
        is: is_mpi_trace,
        name: "a trace of MPI calls, as liballprof writes it",
        way: "Schedgen makes GOAL of the traces of all ranks, `schedgen -p trace --traces FILE-OF-RANK-0 -o NEW.goal`",
    },
];

/// Returns true if a text begins with `start`, behind blanks.
fn begins(bytes: &[u8], start: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(start)
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

/// Returns true for lines as `MPI_Send:1.0:...`.
fn is_mpi_trace(bytes: &[u8]) -> bool {
    let is_call = |line: &[u8]| {
        let name = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        line.starts_with(b"MPI_") && line.get(name.count()) == Some(&b':')
    };
    bytes.split(|&byte| byte == b'\n').any(is_call)
}

/// Returns true for Chakra's form: messages of protobuf behind their lengths. The first one is a
/// `GlobalMetadata`, whose version is a text as `0.0.4`. If it has none, a `Node` follows it.
fn is_chakra(mut bytes: &[u8]) -> bool {
    let Some(mut metadata) = text(&mut bytes) else { return false };
    if number(&mut metadata) == Some(FIRST_TEXT) {
        let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        return text(&mut metadata)
            .is_some_and(|version| version.contains(&b'.') && version.iter().all(is_part));
    }
    is_chakra_node(&mut bytes).is_some()
}

/// Returns `Some` if bytes begin with the length, the id, the name and the type of a `Node`. An id
/// of 0 is left out.
fn is_chakra_node(bytes: &mut &[u8]) -> Option<()> {
    let (_length, mut key) = (number(bytes)?, number(bytes)?);
    if key == FIRST_NUMBER {
        let _id = number(bytes)?;
        key = number(bytes)?;
    }
    let name = text(bytes).filter(|_| key == SECOND_TEXT)?;
    let is_name = !name.is_empty() && str::from_utf8(name).is_ok();
    number(bytes).filter(|&key| is_name && key == THIRD_NUMBER).map(|_| ())
}

/// Keys of the fields of protobuf's messages.
const FIRST_NUMBER: u64 = 0x08;
const FIRST_TEXT: u64 = 0x0a;
const SECOND_TEXT: u64 = 0x12;
const THIRD_NUMBER: u64 = 0x18;

/// Takes a number of protobuf from the front of bytes.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Takes a text of protobuf, which is behind its length, from the front of bytes.
fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}

/// Words that begin operations of LogGOPSim2, and no statement of GOAL.
const G2: [&[u8]; 8] =
    [b"put", b"get", b"append", b"tput", b"tget", b"tappend", b"test", b"calcgem5"];

/// Returns the finding about a text of LogGOPSim2, whose operations the grammar has refused at the
/// places `refused`.
pub(super) fn second_loggopsim(source: &Source, refused: &[Span]) -> Option<Diagnostic> {
    let word = |span: &&Span| {
        let at = |place: u64| (place - source.base) as usize;
        source.bytes.get(at(span.start)..at(span.end)).is_some_and(|word| G2.contains(&word))
    };
    let span = *refused.iter().find(word)?;
    let message = format!("{} is a schedule of LogGOPSim2 (G2), not GOAL", source.name);
    Some(
        Diagnostic::new(Code::ForeignFormat, message)
            .label(span, "an operation of LogGOPSim2 alone")
            .help("GOAL has no one-sided operations: write sends and receives in their place"),
    )
}
