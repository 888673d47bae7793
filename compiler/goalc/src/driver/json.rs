//! Writes a program as one JSON object, with a line for each action. `docs/goalc.md` describes its
//! fields.

use goal_lang::{
    ANY, Action, ActionId, Body, Datum, Function, LineCounters, Lines, MemoryImage, Operand,
    Payload, Piece, Placement, Program, SourceMap, Space,
};
use serde::Serialize;
use std::io::{self, Write};

/// Writes a program: `num_ranks`, then `bodies` and `images`, each with the ranks that have it.
/// Lines of the text need `sources`, unless the program came with lines.
///
/// # Errors
/// An error of `out`.
pub(super) fn write_json(
    program: &Program,
    sources: Option<&SourceMap>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut ranks_of_body = vec![Vec::new(); program.bodies.len()];
    let mut ranks_of_image = vec![Vec::new(); program.images.len()];
    for (rank, entry) in program.ranks.iter().enumerate() {
        ranks_of_body[entry.body.index()].push(rank as u32);
        if let Some(image) = entry.image {
            ranks_of_image[image.index()].push(rank as u32);
        }
    }
    write!(out, "{{\"num_ranks\":{},\n\"bodies\":[", program.num_ranks())?;
    let bodies = program.bodies.iter().zip(&ranks_of_body).filter(|(_, ranks)| !ranks.is_empty());
    for (i, (body, ranks)) in bodies.enumerate() {
        out.write_all(if i > 0 { b",\n{\"ranks\":" } else { b"\n{\"ranks\":" })?;
        serde_json::to_writer(&mut *out, ranks)?;
        write!(out, ",\"scratch\":{},\"actions\":[", body.scratch)?;
        write_actions(body, sources, out)?;
        out.write_all(b"]}")?;
    }
    out.write_all(b"],\n\"images\":[")?;
    let images = program.images.iter().zip(ranks_of_image).filter(|(_, ranks)| !ranks.is_empty());
    for (i, (MemoryImage { init, expect }, ranks)) in images.enumerate() {
        out.write_all(if i > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(
            &mut *out,
            &Image { ranks, init: values(init), expect: values(expect) },
        )?;
    }
    out.write_all(b"]}\n")
}

fn write_actions(body: &Body, sources: Option<&SourceMap>, out: &mut dyn Write) -> io::Result<()> {
    let [requires, irequires] =
        [&body.requires, &body.irequires].map(|csr| csr.transposed(body.len()));
    let (lines, mut counters) = (Lines::new(&body.debug, sources), LineCounters::default());
    for id in body.ids() {
        out.write_all(if id.index() > 0 { b",\n" } else { b"\n" })?;
        let line = JsonAction {
            label: body.debug.labels.get(id),
            line: Some(lines.line(id, &mut counters)).filter(|&line| line > 0),
            requires: row(requires.row(id)),
            irequires: row(irequires.row(id)),
            ..JsonAction::new(body, body.action(id))
        };
        serde_json::to_writer(&mut *out, &line)?;
    }
    Ok(())
}

fn values(data: &[Datum]) -> Vec<Values<'_>> {
    data.iter().map(Values::new).collect()
}

fn row(ids: &[ActionId]) -> Vec<u32> {
    ids.iter().map(|id| id.0).collect()
}

#[derive(Serialize, Default)]
struct JsonAction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Wild>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<Wild>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nanos: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    op: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    datatype: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffers: Vec<Vec<JsonPiece>>,
    #[serde(skip_serializing_if = "is_zero")]
    cpu: u16,
    #[serde(skip_serializing_if = "is_zero")]
    nic: u8,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requires: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    irequires: Vec<u32>,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// A number, or `"any"`.
#[derive(Serialize)]
#[serde(untagged)]
enum Wild {
    Number(u32),
    Any(&'static str),
}

impl Wild {
    fn new(number: u32) -> Option<Self> {
        Some(if number == ANY { Wild::Any("any") } else { Wild::Number(number) })
    }
}

#[derive(Serialize)]
struct JsonPiece {
    addr: u64,
    size: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scratch: bool,
}

impl From<&Piece> for JsonPiece {
    fn from(piece: &Piece) -> Self {
        Self { addr: piece.addr, size: piece.size, scratch: piece.space == Space::Scratch }
    }
}

fn buffer(operand: Operand<'_>) -> Vec<JsonPiece> {
    operand.pieces().iter().map(JsonPiece::from).collect()
}

impl JsonAction<'_> {
    fn new(body: &Body, action: &Action) -> Self {
        let kind = action.kind().name();
        let reduction = body.reduction(action);
        let first = reduction.and_then(|reduction| reduction.a).map(Operand::One);
        let message = |payload: Payload, tag: u32, placement: Placement| Self {
            kind,
            tag: Wild::new(tag),
            size: Some(body.payload_size(payload)),
            op: reduction.map(|reduction| reduction.op.name()),
            datatype: reduction.map(|reduction| reduction.datatype.name()),
            buffers: first.into_iter().chain(body.payload_operand(payload)).map(buffer).collect(),
            cpu: placement.cpu,
            nic: placement.nic,
            ..Self::default()
        };
        match *action {
            Action::Send { payload, to, tag, placement } => {
                Self { to: Some(to), ..message(payload, tag, placement) }
            }
            Action::Recv { payload, from, tag, placement } => {
                Self { from: Wild::new(from), ..message(payload, tag, placement) }
            }
            Action::Calc { nanos, placement: Placement { cpu, nic } } => {
                Self { kind, nanos: Some(nanos), cpu, nic, ..Self::default() }
            }
            Action::Marker { to, tag, placement: Placement { cpu, nic } } => {
                Self { kind, to: Some(to), tag: Wild::new(tag), cpu, nic, ..Self::default() }
            }
            Action::Wtime { addr, space } => Self {
                kind,
                buffers: vec![vec![JsonPiece::from(&Piece { addr, size: 8, space })]],
                ..Self::default()
            },
            Action::Exec { .. } | Action::ExecVector { .. } | Action::User { .. } | Action::Nop => {
                let Some(local) = body.local_operation(action) else {
                    return Self { kind, ..Self::default() };
                };
                let buffers = [local.a, local.b].into_iter().chain(local.c).map(buffer).collect();
                let plain = Self { kind, buffers, ..Self::default() };
                match local.function {
                    Function::Predefined(op, datatype) => {
                        Self { op: Some(op.name()), datatype: Some(datatype.name()), ..plain }
                    }
                    Function::User(function) => Self { function: Some(function), ..plain },
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Image<'a> {
    ranks: Vec<u32>,
    init: Vec<Values<'a>>,
    expect: Vec<Values<'a>>,
}

#[derive(Serialize)]
struct Values<'a> {
    addr: u64,
    datatype: &'a str,
    /// Two hexadecimal digits for each byte, in the order of memory.
    bytes: String,
}

impl<'a> Values<'a> {
    fn new(datum: &'a Datum) -> Self {
        let bytes = datum.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { addr: datum.addr, datatype: datum.datatype.name(), bytes }
    }
}
