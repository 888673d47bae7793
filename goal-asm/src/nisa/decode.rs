//! Decodes a verified NISA file into a program.

use super::file::{Nisa, Values};
use super::operation::{Buffer, Operation};
use super::section::{Record, Section};
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Datum, MemoryImage, Payload, Piece, Pieces, Program,
    ProgramBuilder, Space,
};

impl Nisa {
    /// Returns the program of this schedule: actions in the sections' order, names and lines from
    /// the debug part. A memory that is a table of buffers becomes one region
    /// ([`flattened`](Body::flattened)).
    pub fn decode(&self) -> Program {
        let mut builder = ProgramBuilder::default();
        let bodies: Vec<_> = (0..self.num_sections())
            .map(|section| builder.body(self.decode_section(section)))
            .collect();
        let images: Vec<_> = (0..self.num_images())
            .map(|image| {
                let image = self.image_by_id(image);
                builder.image(MemoryImage { init: data(image.init), expect: data(image.expect) })
            })
            .collect();
        for rank in 0..self.num_ranks() {
            let image = self.image_id(rank).map(|image| images[image as usize]);
            builder.rank(bodies[self.section_id(rank) as usize], image);
        }
        builder.finish()
    }

    /// Returns the graph of section `id`. A table of buffers becomes one region of memory.
    pub(super) fn decode_section(&self, id: u32) -> Body {
        let section = self.section_by_id(id);
        let debug = self.debug_by_id(id);
        let index = Index::new(section, self.num_actions(id));
        let mut builder = BodyBuilder::default();
        let has_labels = debug.has_labels();
        for (i, (_, record)) in section.records().enumerate() {
            let action = action(&mut builder, &record);
            match has_labels {
                true => builder.labelled(debug.label(i).unwrap_or_default(), action),
                false => builder.action(action),
            };
        }
        for (i, (_, record)) in section.records().enumerate() {
            let prerequisite = ActionId::new(i);
            for waiter in record.dependents.iter() {
                builder.requires(index.of(waiter), prerequisite);
            }
            for waiter in record.start_dependents.iter() {
                builder.irequires(index.of(waiter), prerequisite);
            }
        }
        builder.scratch(self.section_scratch_size(id));
        builder.buffers(self.section_buffers(id).collect());
        let mut body = builder.finish().flattened();
        let lines: Vec<u32> = body.ids().map(|id| debug.line(id.index()).unwrap_or(0)).collect();
        if lines.iter().any(|&line| line > 0) {
            body.debug.lines = lines;
            body.debug.source_name = debug.source_name().unwrap_or_default().to_owned();
        }
        body
    }
}

fn data(values: Values<'_>) -> Vec<Datum> {
    values
        .map(|value| Datum {
            addr: value.addr,
            datatype: value.datatype,
            bytes: value.bytes.to_vec(),
        })
        .collect()
}

/// The offset of every action in a section, ascending. An action's index here is its id.
struct Index(Vec<u32>);

impl Index {
    fn new(section: Section<'_>, actions: u32) -> Self {
        let mut offsets = Vec::with_capacity(actions as usize);
        offsets.extend(section.records().map(|(at, _)| at));
        Self(offsets)
    }

    fn of(&self, offset: u32) -> ActionId {
        ActionId::new(self.0.binary_search(&offset).expect("verified"))
    }
}

fn action(builder: &mut BodyBuilder, record: &Record<'_>) -> Action {
    let placement = record.placement();
    match record.operation() {
        Operation::Send { peer, tag, payload, reduce } => {
            let payload = match (payload, reduce) {
                (Buffer::One(b), Some((op, datatype, a))) => {
                    Payload::Reduced { op, datatype, operands: builder.pieces(&[b, a]).first }
                }
                _ => message(builder, payload),
            };
            Action::Send { payload, to: peer, tag, placement }
        }
        Operation::Recv { peer, tag, payload, reduce } => {
            let payload = match (payload, reduce) {
                (Buffer::One(b), Some((op, datatype))) => {
                    Payload::Reduced { op, datatype, operands: builder.pieces(&[b]).first }
                }
                _ => message(builder, payload),
            };
            Action::Recv { payload, from: peer, tag, placement }
        }
        Operation::Calc { nanos } => Action::Calc { nanos, placement },
        Operation::Exec { op, datatype, a, b, c } => match (a, b, c) {
            (Buffer::One(a), Buffer::One(b), c) => {
                let third = match c {
                    Some(Buffer::One(piece)) => Some(piece),
                    _ => None,
                };
                let c = third.unwrap_or(Piece { addr: 0, size: 0, space: Space::Memory });
                Action::Exec {
                    op,
                    datatype,
                    spaces: [a.space, b.space, c.space],
                    has_c: third.is_some(),
                    a: a.addr,
                    b: b.addr,
                    c: c.addr,
                    size: a.size,
                }
            }
            _ => {
                let absent = Pieces { first: 0, len: 0 };
                let operands = [
                    pieces(builder, a),
                    pieces(builder, b),
                    c.map_or(absent, |c| pieces(builder, c)),
                ];
                Action::ExecVector { op, datatype, operands }
            }
        },
        Operation::User { function, a, b } => {
            Action::User { function, operands: [pieces(builder, a), pieces(builder, b)] }
        }
        Operation::Wtime { buffer } => match buffer {
            Buffer::One(piece) => Action::Wtime { addr: piece.addr, space: piece.space },
            Buffer::Pattern { .. } | Buffer::Many(_) => unreachable!("verified"),
        },
        Operation::Nop => Action::Nop,
        Operation::Marker { to, tag } => Action::Marker { to, tag, placement },
    }
}

fn message(builder: &mut BodyBuilder, buffer: Buffer<'_>) -> Payload {
    match buffer {
        Buffer::Pattern { size } => Payload::Pattern { size },
        Buffer::One(piece) => Payload::Buffer(piece),
        Buffer::Many(_) => Payload::Vector(pieces(builder, buffer)),
    }
}

fn pieces(builder: &mut BodyBuilder, buffer: Buffer<'_>) -> Pieces {
    match buffer {
        Buffer::Pattern { .. } => builder.pieces(&[]),
        Buffer::One(piece) => builder.pieces(&[piece]),
        Buffer::Many(list) => {
            let list: Vec<Piece> = list.iter().collect();
            builder.pieces(&list)
        }
    }
}
