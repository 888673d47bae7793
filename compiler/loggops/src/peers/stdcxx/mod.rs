//! The algorithms of GNU's C++ library that decide the order of equal keys. Both peers are built
//! with that library, so their times depend on it: `std::sort`, `std::push_heap`, `std::pop_heap`.

#[cfg(test)]
mod tests;

/// The longest range that `std::sort` leaves to insertion.
const INSERTION_MAX: usize = 16;

/// Sorts as `std::sort` does. `less` must be a strict weak order.
pub(super) fn sort<T: Copy>(items: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    if items.len() < 2 {
        return;
    }
    introsort(items, 2 * items.len().ilog2(), less);
    if items.len() > INSERTION_MAX {
        insertion_sort(&mut items[..INSERTION_MAX], less);
        for last in INSERTION_MAX..items.len() {
            insert_unguarded(items, last, less);
        }
    } else {
        insertion_sort(items, less);
    }
}

fn introsort<T: Copy>(mut items: &mut [T], mut depth: u32, less: impl Fn(&T, &T) -> bool + Copy) {
    while items.len() > INSERTION_MAX {
        if depth == 0 {
            return heap_sort(items, less);
        }
        depth -= 1;
        let cut = partition(items, less);
        let (before, after) = items.split_at_mut(cut);
        introsort(after, depth, less);
        items = before;
    }
}

/// Parts a range around the median of three elements. Returns the place of the cut.
fn partition<T: Copy>(items: &mut [T], less: impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let is_less = |items: &[T], left: usize, right: usize| less(&items[left], &items[right]);
    let median = if is_less(items, a, b) {
        if is_less(items, b, c) {
            b
        } else if is_less(items, a, c) {
            c
        } else {
            a
        }
    } else if is_less(items, a, c) {
        a
    } else if is_less(items, b, c) {
        c
    } else {
        b
    };
    items.swap(0, median);
    let (mut first, mut last) = (1, items.len());
    loop {
        while is_less(items, first, 0) {
            first += 1;
        }
        last -= 1;
        while is_less(items, 0, last) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        items.swap(first, last);
        first += 1;
    }
}

fn insertion_sort<T: Copy>(items: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    for last in 1..items.len() {
        if less(&items[last], &items[0]) {
            items[..=last].rotate_right(1);
        } else {
            insert_unguarded(items, last, less);
        }
    }
}

/// Moves the element at `last` before all larger ones. One before them must not be larger.
fn insert_unguarded<T: Copy>(items: &mut [T], mut last: usize, less: impl Fn(&T, &T) -> bool) {
    let item = items[last];
    while less(&item, &items[last - 1]) {
        items[last] = items[last - 1];
        last -= 1;
    }
    items[last] = item;
}

fn heap_sort<T: Copy>(items: &mut [T], less: impl Fn(&T, &T) -> bool + Copy) {
    for parent in (0..items.len() / 2).rev() {
        sift(items, parent, items[parent], less);
    }
    for end in (1..items.len()).rev() {
        pop_to(items, end, less);
    }
}

/// Adds `item` to a heap as `std::push_heap` does. The largest element comes first.
pub(super) fn push_heap<T: Copy>(heap: &mut Vec<T>, item: T, less: impl Fn(&T, &T) -> bool) {
    heap.push(item);
    let hole = heap.len() - 1;
    raise(heap, hole, 0, item, less);
}

/// Removes the first element of a heap as `std::pop_heap` does.
pub(super) fn pop_heap<T: Copy>(
    heap: &mut Vec<T>,
    less: impl Fn(&T, &T) -> bool + Copy,
) -> Option<T> {
    if heap.len() > 1 {
        let end = heap.len() - 1;
        pop_to(heap, end, less);
    }
    heap.pop()
}

/// Moves the first element of the heap `items[..=end]` to `end`.
fn pop_to<T: Copy>(items: &mut [T], end: usize, less: impl Fn(&T, &T) -> bool + Copy) {
    let item = items[end];
    items[end] = items[0];
    sift(&mut items[..end], 0, item, less);
}

/// Fills the hole at `hole` with `item`: the hole sinks to a leaf, and from there the item rises.
fn sift<T: Copy>(items: &mut [T], mut hole: usize, item: T, less: impl Fn(&T, &T) -> bool) {
    let (top, len) = (hole, items.len());
    let mut child = hole;
    while child < (len - 1) / 2 {
        child = 2 * (child + 1);
        if less(&items[child], &items[child - 1]) {
            child -= 1;
        }
        items[hole] = items[child];
        hole = child;
    }
    if len.is_multiple_of(2) && len >= 2 && child == (len - 2) / 2 {
        child = 2 * (child + 1);
        items[hole] = items[child - 1];
        hole = child - 1;
    }
    raise(items, hole, top, item, less);
}

/// Fills the hole at `hole` with `item`, after the hole has risen to at most `top`.
fn raise<T: Copy>(
    items: &mut [T],
    mut hole: usize,
    top: usize,
    item: T,
    less: impl Fn(&T, &T) -> bool,
) {
    while hole > top {
        let parent = (hole - 1) / 2;
        if !less(&items[parent], &item) {
            break;
        }
        items[hole] = items[parent];
        hole = parent;
    }
    items[hole] = item;
}
