//! Tests boards: places, words and laps. `unsafe`: one writer, and readers of what it has put.
#![allow(unsafe_code)]

use crate::board::{Board, INLINE_MAX, Look, Ring, Words, lines, word};
use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::Ordering;

const RINGS: [Ring; 2] = [Ring::Short, Ring::Long];
const SIGNATURE: u16 = 0x8001;

/// Returns the words of a new board. They would not fit on the stack.
fn new_words() -> Box<Words> {
    // SAFETY: the layout is not empty, a new board is all zeros, and a box has this layout.
    unsafe { Box::from_raw(alloc_zeroed(Layout::new::<Words>()).cast()) }
}

/// Puts a message whose bytes depend on its position.
fn put(board: Board<'_>, ring: Ring, position: u64, len: usize) {
    let fill = |payload: &mut [u8]| {
        assert_eq!(payload.len(), len);
        payload.iter_mut().enumerate().for_each(|(at, byte)| *byte = byte_of(position, at));
    };
    // SAFETY: one writer, and nobody reads meanwhile.
    unsafe { board.put(ring, position, SIGNATURE, len, fill) };
}

fn byte_of(position: u64, at: usize) -> u8 {
    (position as u8).wrapping_mul(31).wrapping_add((at * 7) as u8) | 1
}

fn check(board: Board<'_>, ring: Ring, position: u64, len: usize) {
    assert_eq!(board.look(ring, position, SIGNATURE), Look::Arrived);
    // SAFETY: the message is here, and nobody writes.
    let payload = unsafe { board.payload(ring, position, len) };
    assert_eq!(payload.len(), len);
    let is_right = |(at, &byte): (usize, &u8)| byte == byte_of(position, at);
    assert!(payload.iter().enumerate().all(is_right), "{ring:?} {position} {len}");
}

#[test]
fn messages_of_all_lengths_arrive_in_their_places() {
    let words = new_words();
    let board = Board::new(&words);
    for ring in RINGS {
        let bytes_max = (ring.lines() as usize / 4) * 64;
        let mut position = 0;
        // Several laps, and each length at many lines.
        for len in (0..1000).map(|i| i * 1021 % (bytes_max + 1)) {
            position = ring.fit(position, lines(len));
            let line = position % ring.lines();
            assert!(line + lines(len) <= ring.lines(), "a message does not wrap");
            assert_eq!(board.look(ring, position, SIGNATURE), Look::Missing);
            put(board, ring, position, len);
            check(board, ring, position, len);
            position += lines(len);
        }
        assert!(position > 2 * ring.lines());
    }
}

#[test]
fn a_message_takes_a_cell_or_whole_lines() {
    assert_eq!(INLINE_MAX, 56);
    assert_eq!([0, 1, 56, 57, 64, 65, 128].map(lines), [1, 1, 1, 1, 1, 2, 2]);
    assert_eq!(Ring::Short.fit(62, 2), 62);
    assert_eq!(Ring::Short.fit(63, 2), 64);
    assert_eq!(Ring::Long.fit(2 * 16384 - 1, 16384), 2 * 16384);
}

#[test]
fn few_lines_use_a_quarter_of_the_long_ring() {
    assert_eq!(Ring::Long.fit(4095, 1), 4095);
    assert_eq!(Ring::Long.fit(4095, 2), 16384);
    assert_eq!(Ring::Long.fit(16384 + 5000, 512), 2 * 16384);
    assert_eq!(Ring::Long.fit(16384 + 5000, 513), 16384 + 5000);
}

/// A payload lies beside the words, whatever its bytes are. So it announces no message.
#[test]
fn no_payload_looks_like_a_word() {
    let words = new_words();
    let board = Board::new(&words);
    for ring in RINGS {
        let forged = |payload: &mut [u8]| {
            let words = payload.as_chunks_mut::<8>().0.iter_mut().zip(0..);
            words.for_each(|(place, at)| *place = word(at / 8, SIGNATURE).to_ne_bytes());
        };
        // SAFETY: one writer, and nobody reads meanwhile.
        unsafe { board.put(ring, 0, SIGNATURE, 16 * 64, forged) };
        for position in 1..ring.lines() {
            assert_eq!(board.look(ring, position, SIGNATURE), Look::Missing);
        }
    }
}

#[test]
fn a_reader_tells_a_missing_message_from_another_one() {
    let words = new_words();
    let board = Board::new(&words);
    let lap = Ring::Short.lines();
    put(board, Ring::Short, 5, 8);
    let other = Look::Other(SIGNATURE);
    assert_eq!(board.look(Ring::Short, 5, 7), other);
    assert_eq!(board.look(Ring::Short, 5 + lap, SIGNATURE), Look::Missing);
    assert_eq!(board.look(Ring::Long, 5, SIGNATURE), Look::Missing);
    // The message of the next lap takes the place of the old one.
    put(board, Ring::Short, 5 + lap, 0);
    assert_eq!(board.look(Ring::Short, 5, SIGNATURE), Look::Missing);
    check(board, Ring::Short, 5 + lap, 0);
}

/// Words have 48 bits of a position. An empty cell has no message, not even where these bits are 0.
#[test]
fn positions_go_on_beyond_the_bits_of_a_word() {
    let words = new_words();
    let board = Board::new(&words);
    for position in (1 << 48) - 3..(1 << 48) + 3 {
        assert_eq!(board.look(Ring::Long, position, SIGNATURE), Look::Missing);
        put(board, Ring::Long, position, 56);
        check(board, Ring::Long, position, 56);
    }
}

#[test]
fn what_the_owner_has_read_is_told() {
    let words = new_words();
    let board = Board::new(&words);
    board.consume(Ring::Short, 7);
    assert_eq!(RINGS.map(|ring| board.consumed(ring)), [7, 0]);
    assert_eq!(board.look(Ring::Short, 0, SIGNATURE), Look::Missing);
}

/// A plan may keep the address of a word.
#[test]
fn a_word_has_one_address_in_all_laps() {
    let words = new_words();
    let board = Board::new(&words);
    let kept = board.word_at(Ring::Short, 9);
    let lap = Ring::Short.lines();
    assert!(std::ptr::eq(kept, board.word_at(Ring::Short, 9 + 3 * lap)));
    put(board, Ring::Short, 9 + lap, 4);
    assert_eq!(kept.load(Ordering::Acquire), word(9 + lap, SIGNATURE));
}
