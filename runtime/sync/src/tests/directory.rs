//! Tests directories: sets, their next owners, and a table without room.

use crate::directory::{Directory, FIRST, Place, SETS, Words};

/// A directory of zeros. It is too large for a stack.
fn words() -> Box<Words> {
    Box::default()
}

#[test]
fn each_communicator_has_a_set_until_there_are_none() {
    let words = words();
    let directory = Directory::new(&words);
    let places: Vec<_> = (1..20).map(|number| directory.place_of(number << 1)).collect();
    let mut sets: Vec<_> = places.iter().flatten().map(|place| place.set).collect();
    sets.sort_unstable();
    assert_eq!(sets, (FIRST + 1..SETS).collect::<Vec<_>>());
    assert!(places[SETS - 1..].iter().all(Option::is_none));
    // A decision stays, even when there is a free set.
    directory.leave(places[0].unwrap().set, 1, [0, 0]);
    let again: Vec<_> = (2..20).map(|number| directory.place_of(number << 1)).collect();
    assert_eq!(again, places[1..]);
}

#[test]
fn a_number_does_not_name_the_set_of_the_next_owner() {
    let words = words();
    let directory = Directory::new(&words);
    let first = directory.place_of(2).unwrap();
    directory.leave(first.set, 1, [70, u64::MAX]);
    assert_eq!(directory.place_of(2), None);
    let next = directory.place_of(4).unwrap();
    assert_eq!((next.set, next.bases[0]), (first.set, 70));
    assert!(next.bases[1] < 1 << 48, "positions never overflow");
    assert_eq!(directory.place_of(2), None);
}

#[test]
fn the_next_owner_begins_behind_the_last_message() {
    let words = words();
    let directory = Directory::new(&words);
    let first = directory.place_of(2).unwrap();
    assert_eq!(first, Place { set: 1, bases: [0, 0] });
    directory.leave(first.set, 3, [70, 5]);
    // A rank that comes late finds the bases of its own communicator.
    assert_eq!(directory.place_of(2), Some(first));
    directory.leave(first.set, 3, [64, 9]);
    assert_eq!(directory.place_of(4).unwrap().set, 2, "one rank has not left");
    directory.leave(first.set, 3, [70, 5]);
    assert_eq!(directory.place_of(6), Some(Place { set: 1, bases: [70, 9] }));
}

#[test]
fn a_full_table_gives_no_sets() {
    let words = words();
    let directory = Directory::new(&words);
    let mut has_set = true;
    for number in 1..200_000u64 {
        let place = directory.place_of(number << 1);
        assert!(has_set || place.is_none());
        if let Some(Place { set, .. }) = place {
            directory.leave(set, 1, [number, number]);
        } else if number > 100_000 {
            has_set = false;
        }
        assert!(number > 50_000 || place.is_some(), "communicator {number}");
    }
    assert!(!has_set);
    assert_eq!(directory.place_of(199_999 << 1), None);
}
