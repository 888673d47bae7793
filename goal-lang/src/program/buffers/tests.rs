use super::*;
use crate::program::{BodyBuilder, Piece, Placement};

#[test]
fn a_table_becomes_one_region() {
    let mut builder = BodyBuilder::default();
    let piece = |buffer, offset| Piece {
        addr: buffer_address(buffer, offset),
        size: 4,
        space: Space::Memory,
    };
    let scratch = Piece { addr: 1 << OFFSET_BITS, size: 4, space: Space::Scratch };
    let pieces = builder.pieces(&[piece(1, 4), scratch]);
    let send = |payload| Action::Send { payload, to: 0, tag: 0, placement: Placement::default() };
    builder.action(send(Payload::Buffer(piece(0, 6))));
    builder.action(send(Payload::Vector(pieces)));
    builder.action(Action::Wtime { addr: buffer_address(1, 0), space: Space::Memory });
    let mut body = builder.finish();
    body.buffers = vec![10, 8];
    assert_eq!((body.flat_size(), body.extent(Space::Memory)), (72, 72));
    let flat = body.flattened();
    assert!(flat.buffers.is_empty());
    assert_eq!(flat.extent(Space::Memory), 72);
    assert_eq!(flat.pieces, [Piece { addr: 68, ..piece(0, 0) }, scratch]);
    assert!(matches!(flat.actions[2], Action::Wtime { addr: 64, .. }));
}

#[test]
fn addresses_of_a_process_become_a_table() {
    let memory = |addr, size| Piece { addr, size, space: Space::Memory };
    let body_of = |pieces: &[Piece]| {
        let mut builder = BodyBuilder::default();
        for &piece in pieces {
            let payload = Payload::Buffer(piece);
            builder.action(Action::Send {
                payload,
                to: 0,
                tag: 0,
                placement: Placement::default(),
            });
        }
        builder.finish()
    };
    let places = |body: &Body| -> Vec<(usize, u64)> {
        let mut places = Vec::new();
        for action in &body.actions {
            body.visit_pieces(action, |piece| places.push(buffer_of(piece.addr)));
        }
        places
    };
    // Two that overlap, one that touches them, one apart, and one without bytes.
    let pieces =
        [memory(1000, 8), memory(1004, 8), memory(1012, 4), memory(5000, 8), memory(77, 0)];
    let mut body = body_of(&pieces);
    assert_eq!(body.make_table(&[]), Ok(vec![1000, 5000]));
    assert_eq!(body.buffers, [16, 8]);
    assert_eq!(places(&body), [(0, 0), (0, 4), (0, 12), (1, 0), (0, 0)]);

    let declared = [5000..5008, 1000..1012, 9000..9000];
    let mut body = body_of(&pieces);
    assert_eq!(body.make_table(&declared), Ok(vec![5000, 1000, 9000, 1012]));
    assert_eq!(body.buffers, [8, 12, 0, 4]);
    assert_eq!(places(&body), [(1, 0), (1, 4), (3, 0), (0, 0), (0, 0)]);

    let mut body = body_of(&pieces);
    let straddles = TableError::Straddles { declared: 0, piece: 1004..1012 };
    assert_eq!(body.make_table(std::slice::from_ref(&(1000..1008))), Err(straddles));
    assert_eq!(body.make_table(&[0..8, 7..9]), Err(TableError::Overlap { declared: [0, 1] }));
    assert_eq!(body.extent(Space::Memory), 5008);
}

#[test]
fn the_smallest_gaps_are_joined() {
    let ranges = || vec![0..1, 2..3, 10..11, 12..13, 20..21];
    assert_eq!(join(ranges(), 5), ranges());
    assert_eq!(join(ranges(), 4), [0..1, 2..3, 10..13, 20..21]);
    assert_eq!(join(ranges(), 3), [0..3, 10..13, 20..21]);
    assert_eq!(join(ranges(), 1).as_slice(), std::slice::from_ref(&(0..21)));
}

#[test]
fn sums_of_lengths_are_checked() {
    assert_eq!(flat_offsets([1, 1, 0]), Some((vec![0, 64, 128], 128)));
    assert_eq!(flat_offsets([u64::MAX, 1]), None);
    assert_eq!(buffer_of(buffer_address(u16::MAX, 7)), (BUFFERS_MAX - 1, 7));
}
