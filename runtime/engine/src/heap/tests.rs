//! Compares the collections with those of the standard library. All of them lie in one heap.

use super::{Block, Line, MinHeap, OutOfMemory, Pool, Private, Queue, Table, within};
use crate::seed::keys;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

#[test]
fn a_queue_keeps_the_order() {
    let private = Private::new();
    let heap = private.heap();
    let mut random = fastrand::Rng::with_seed(1);
    let (mut queue, mut model) = (Queue::<(u64, u32)>::default(), VecDeque::new());
    for step in 0..20_000u32 {
        match random.u32(..if step % 4000 < 2000 { 3 } else { 5 }) {
            0 | 1 => {
                queue.push(heap, (step.into(), step));
                model.push_back((step.into(), step));
            }
            2 if step % 100 == 0 => {
                queue.retain(heap, |&(_, value)| value % 3 != 0);
                model.retain(|&(_, value)| value % 3 != 0);
            }
            _ => assert_eq!(queue.pop(heap), model.pop_front()),
        }
        assert_eq!((queue.len(), queue.last(heap)), (model.len(), model.back()));
        assert_eq!(queue.at(heap, 1), model.get(1));
    }
}

#[test]
fn a_line_keeps_the_order() {
    let private = Private::new();
    let heap = private.heap();
    let mut random = fastrand::Rng::with_seed(7);
    let (mut line, mut model) = (Line::<u32>::default(), VecDeque::new());
    for step in 0..20_000 {
        match random.u32(..if step % 4000 < 2000 { 4 } else { 3 }) {
            0 => {
                line.push(heap, step);
                model.push_back(step);
            }
            1 if step % 100 == 0 => {
                line.retain(heap, |value| value % 3 != 0);
                model.retain(|value| value % 3 != 0);
            }
            1 => {
                line.push(heap, step);
                model.push_back(step);
            }
            _ => assert_eq!(line.pop(heap), model.pop_front()),
        }
        assert_eq!((line.len(), line.is_empty()), (model.len(), model.is_empty()));
        let at = random.usize(..3);
        assert_eq!(line.at(heap, at), model.get(at));
        assert_eq!(line.at_mut(heap, at), model.get_mut(at));
    }
}

#[test]
fn a_pool_gives_numbers_again() {
    let private = Private::new();
    let heap = private.heap();
    let mut random = fastrand::Rng::with_seed(2);
    let (mut pool, mut model) = (Pool::<u64>::default(), HashMap::new());
    for step in 0..20_000 {
        if random.u32(..5) < 3 || model.is_empty() {
            let key = pool.insert(heap, step);
            assert_eq!(model.insert(key, step), None);
            assert!((key as usize) < 20_000);
        } else {
            let keys: Vec<u32> = model.keys().copied().collect();
            let key = keys[random.usize(..keys.len())];
            *pool.get_mut(heap, key) += 1;
            assert_eq!(Some(pool.remove(heap, key)), model.remove(&key).map(|value| value + 1));
        }
        assert_eq!(pool.len(), model.len());
    }
    assert!(model.iter().all(|(&key, value)| pool.get(heap, key) == value));
}

#[test]
fn a_table_finds_what_it_has() {
    let private = Private::new();
    let heap = private.heap();
    let mut random = fastrand::Rng::with_seed(3);
    let (mut table, mut model) = (Table::<u32, u64>::default(), HashMap::new());
    for step in 0..50_000 {
        let key = random.u32(..400) << 20;
        if random.bool() {
            *table.entry(heap, key) = step;
            model.insert(key, step);
        } else {
            assert_eq!(table.remove(heap, key), model.remove(&key));
        }
        let key = random.u32(..400) << 20;
        assert_eq!(table.get(heap, key), model.get(&key));
        assert_eq!(table.is_empty(), model.is_empty());
    }
}

/// A block of a unit has room for one of them only.
#[test]
fn a_table_of_large_values_has_a_free_place() {
    let private = Private::new();
    let heap = private.heap();
    let mut table = Table::<u32, ((u64, u64), (u64, u64))>::default();
    for key in 0..100 {
        assert_eq!(table.get(heap, key), None);
        table.entry(heap, key).0.0 = key.into();
        assert_eq!(table.get(heap, key), Some(&((key.into(), 0), (0, 0))));
    }
}

#[test]
fn the_least_leaves_first() {
    let private = Private::new();
    let heap = private.heap();
    let mut random = fastrand::Rng::with_seed(4);
    let (mut least, mut model) = (MinHeap::<u32>::default(), BinaryHeap::new());
    for _ in 0..20_000 {
        if random.u32(..5) < 3 {
            let value = random.u32(..1000);
            least.push(heap, value);
            model.push(Reverse(value));
        } else {
            assert_eq!(least.pop(heap), model.pop().map(|Reverse(value)| value));
        }
        assert_eq!(least.first(heap), model.peek().map(|&Reverse(value)| value));
    }
}

#[test]
fn memory_that_was_given_back_is_used_again() {
    let private = Private::new();
    let heap = private.heap();
    let fill = || {
        let (mut queue, mut table) = (Queue::<u64>::default(), Table::<u32, u64>::default());
        for i in 0..5000 {
            queue.push(heap, i);
            *table.entry(heap, i as u32) = i;
        }
        while queue.pop(heap).is_some() {}
        queue.release(heap);
        table.release(heap);
    };
    fill();
    let used = heap.control().top;
    for _ in 0..100 {
        fill();
    }
    assert_eq!(heap.control().top, used);
}

/// A message of 4 GiB that is kept needs one.
#[test]
fn a_block_may_have_as_many_bytes_as_32_bits_can_not_count() {
    for bytes in [1 << 31, (1 << 31) + 1, 1 << 32, (1 << 32) + 1, 1 << 36usize] {
        let capacity = Block::<u8>::capacity_of(Block::<u8>::class(bytes));
        let block = Block::<u8> { capacity, ..Block::default() };
        assert!((bytes..2 * bytes).contains(&block.len()), "{bytes} bytes: {}", block.len());
    }
}

/// Counts places and not time: twice as many keys may cost twice as many looks, not four times.
#[test]
fn no_choice_of_keys_makes_look_ups_long() {
    for count in [4096, 8192] {
        for (number, keys) in keys::sets(count).into_iter().enumerate() {
            let private = Private::new();
            let heap = private.heap();
            let mut table = Table::<u32, u32>::default();
            keys.iter().for_each(|&key| *table.entry(heap, key) = key);
            let looks: usize = keys.iter().map(|&key| table.probes(heap, key)).sum();
            assert!(looks < 4 * count, "set {number} of {count} keys: {looks} looks");
        }
    }
}

#[test]
fn what_a_heap_has_no_room_for_is_an_error() {
    let private = Private::with_bytes(1 << 16);
    let heap = private.heap();
    let (mut pool, mut queue, mut table) =
        (Pool::<u64>::default(), Queue::default(), Table::default());
    let mut values = 0;
    let is_used_up = |done: Result<(), OutOfMemory>| {
        let OutOfMemory { needed, room } = done.unwrap_err();
        room == 1 << 16 && needed > room
    };
    assert!(is_used_up(within(|| {
        loop {
            pool.insert(heap, values);
            values += 1;
        }
    })));
    assert!(is_used_up(within(|| (0..1 << 20).for_each(|value: u32| queue.push(heap, value)))));
    assert!(is_used_up(within(|| (0..1 << 20).for_each(|key: u32| *table.entry(heap, key) = key))));
    assert!(is_used_up(within(|| Block::<u8>::new(heap, 1 << 40)).map(drop)));
    // Earlier values are still there.
    assert!(values > 100 && (0..values).all(|key| *pool.get(heap, key as u32) == key));
    assert!(
        !queue.is_empty() && (0..queue.len()).all(|at| queue.at(heap, at) == Some(&(at as u32)))
    );
    assert!(!table.is_empty() && table.get(heap, 0) == Some(&0));
}

#[test]
fn what_is_lacking_is_named_with_a_way_out() {
    let text = OutOfMemory { needed: (3 << 30) + 1, room: 1 << 30 }.to_string();
    assert!(text.contains("needs 3073 MiB of memory and has 1024 MiB"), "{text}");
    assert!(text.ends_with("an unexpected limit of 1073741824 bytes gives it that"), "{text}");
}

#[test]
#[should_panic(expected = "an unexpected limit of")]
fn what_nobody_awaits_is_a_panic() {
    Block::<u8>::new(Private::with_bytes(1 << 16).heap(), 1 << 40);
}
