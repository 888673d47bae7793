//! Models of a directory with one set, for which ranks of two communicators compete.

use super::{explore, shared};
use crate::directory::{Directory, Place, Words};
use loom::thread;

/// The numbers of two communicators.
const ONE: u64 = 2;
const OTHER: u64 = 4;

/// Two ranks of a communicator and one of another come at a time. The two get one answer. One
/// communicator has the set.
#[test]
fn ranks_agree() {
    explore("two ranks of a communicator, one of another", Some(3), || {
        let words = shared(Words::default());
        let come = |number| {
            let words = words.clone();
            thread::spawn(move || Directory::new(&words).place_of(number))
        };
        let (first, other) = (come(ONE), come(OTHER));
        let second = Directory::new(&words).place_of(ONE);
        let (first, other) = (first.join().unwrap(), other.join().unwrap());
        let directory = Directory::new(&words);
        assert_eq!(first, second);
        assert_eq!((directory.place_of(ONE), directory.place_of(OTHER)), (first, other));
        assert!(first.is_none() != other.is_none());
    });
}

/// The ranks of a communicator leave while one of another comes. If that one gets the set, it
/// begins behind the messages of both. The model fails if `leave` counts or stores the owner as
/// Relaxed, or if `claim` is Relaxed.
#[test]
fn the_next_owner_sees_the_ends() {
    explore("two ranks leave, one comes", None, || {
        let words = shared(Words::default());
        let directory = Directory::new(&words);
        let place = directory.place_of(ONE).unwrap();
        let leave = |ends| {
            let words = words.clone();
            thread::spawn(move || Directory::new(&words).leave(place.set, 2, ends))
        };
        let leaving = [leave([3, 9]), leave([7, 1])];
        let next = directory.place_of(OTHER);
        assert!(next.is_none() || next == Some(Place { set: place.set, bases: [7, 9] }));
        leaving.into_iter().for_each(|rank| rank.join().unwrap());
    });
}

/// Two ranks of a communicator come while the set becomes free. They get one answer, with the same
/// bases. If they agree on none, the set is free for a third communicator, which comes meanwhile.
/// The model fails if an entry is written or read as Relaxed. It also fails if a claim in vain is
/// not given back, or is given back as Relaxed.
#[test]
fn ranks_agree_on_the_bases() {
    explore("a rank leaves, two come", Some(3), || {
        let words = shared(Words::default());
        let directory = Directory::new(&words);
        let place = directory.place_of(ONE).unwrap();
        let come = {
            let words = words.clone();
            thread::spawn(move || Directory::new(&words).place_of(OTHER))
        };
        let leave = {
            let words = words.clone();
            thread::spawn(move || Directory::new(&words).leave(place.set, 1, [5, 6]))
        };
        let agree = |place: Option<Place>| assert!(place.is_none_or(|at| at.bases == [5, 6]));
        let one = directory.place_of(OTHER);
        agree(one);
        let third = one.is_none().then(|| directory.place_of(ONE + OTHER)).flatten();
        agree(third);
        assert_eq!(come.join().unwrap(), one);
        leave.join().unwrap();
        if one.is_none() && third.is_none() {
            assert!(directory.place_of(ONE << 3).is_some(), "a set was not given back");
        }
    });
}
