//! The answers of GNU's C++ library (GCC 12) to inputs with many equal keys.

use super::*;

/// The keys that were sorted: `(i * i + i / 3) % 3` at place i.
fn sorted(len: usize) -> Vec<usize> {
    let mut items: Vec<(usize, usize)> = (0..len).map(|i| ((i * i + i / 3) % 3, i)).collect();
    sort(&mut items, |a, b| a.0 < b.0);
    items.into_iter().map(|(_, place)| place).collect()
}

#[test]
fn equal_keys_end_where_std_sort_puts_them() {
    assert_eq!(sorted(16), [0, 7, 8, 9, 1, 2, 3, 10, 11, 12, 4, 5, 6, 13, 14, 15]);
    assert_eq!(sorted(17), [8, 16, 9, 0, 7, 3, 2, 10, 11, 12, 1, 5, 6, 4, 13, 14, 15]);
    let of_forty = [
        0, 18, 36, 35, 34, 7, 8, 9, 17, 16, 25, 27, 26, 30, 21, 28, 29, 20, 37, 38, 39, 10, 1, 2,
        3, 19, 11, 12, 13, 14, 15, 31, 32, 33, 6, 5, 4, 24, 23, 22,
    ];
    assert_eq!(sorted(40), of_forty);
    let of_a_hundred = [
        36, 80, 79, 26, 27, 72, 71, 70, 34, 35, 25, 63, 62, 61, 43, 44, 45, 54, 53, 52, 90, 0, 99,
        98, 97, 7, 8, 9, 81, 89, 88, 18, 16, 17, 1, 82, 75, 55, 74, 93, 92, 56, 57, 84, 64, 91, 73,
        83, 65, 66, 10, 21, 20, 19, 28, 29, 30, 12, 11, 37, 38, 39, 2, 3, 48, 47, 46, 4, 15, 14,
        85, 6, 86, 87, 13, 96, 95, 23, 94, 5, 32, 51, 49, 42, 41, 58, 59, 60, 40, 33, 22, 67, 68,
        69, 31, 24, 50, 76, 77, 78,
    ];
    assert_eq!(sorted(100), of_a_hundred);
}

#[test]
fn equal_keys_leave_a_heap_as_a_priority_queue_gives_them() {
    let later = |a: &(usize, usize), b: &(usize, usize)| a.0 > b.0;
    let (mut heap, mut taken) = (Vec::new(), Vec::new());
    for i in 0..40 {
        push_heap(&mut heap, (i * 7 % 4, i), later);
        if i % 3 == 2 {
            taken.extend(pop_heap(&mut heap, later));
        }
    }
    taken.extend(std::iter::from_fn(|| pop_heap(&mut heap, later)));
    let places: Vec<usize> = taken.into_iter().map(|(_, place)| place).collect();
    let of_cxx = [
        0, 4, 8, 3, 12, 16, 20, 7, 24, 28, 32, 19, 36, 35, 39, 15, 31, 11, 27, 23, 38, 18, 34, 22,
        2, 14, 30, 26, 10, 6, 21, 1, 37, 13, 25, 29, 9, 5, 33, 17,
    ];
    assert_eq!(places, of_cxx);
}

/// Sequences of many lengths, and the heap that the sort falls back to.
#[test]
fn all_sequences_are_sorted() {
    for len in [0, 1, 2, 15, 16, 17, 100, 1000] {
        for keys in [1, 2, 3, len + 1] {
            let mut items: Vec<usize> = (0..len).map(|i| (i * 7919 + 3) % 1009 % keys).collect();
            let mut wanted = items.clone();
            wanted.sort_unstable();
            sort(&mut items, |a, b| a < b);
            assert_eq!(items, wanted);
            heap_sort(&mut items, |a, b| a < b);
            assert_eq!(items, wanted);
        }
    }
}
