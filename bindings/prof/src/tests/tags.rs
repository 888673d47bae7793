//! The mapping of tags.

use crate::TagError;
use crate::tags::{Ids, Tags};
use std::collections::HashSet;

#[test]
fn tags_differ_if_their_messages_must() {
    let tags = Tags::new(12);
    let mut seen = HashSet::new();
    let last = tags.communicators() - 1;
    for id in [0, 1, 2, last - 1, last] {
        for tag in 0..1 << 12 {
            let tag = tags.message(id, tag).expect("it fits");
            assert!(seen.insert(tag));
        }
        for place in 0..256 {
            for message in 0..16 {
                let tag = tags.collective(id, place, message).expect("it fits");
                assert!(seen.insert(tag));
                assert_ne!(tag, goal_lang::ANY);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let tags = Tags::new(12);
    assert_eq!(tags.message(1, 1 << 12), Err(TagError::Tag { tag: 4096, bits: 12 }));
    assert_eq!(tags.collective(1, 0, 16), Err(TagError::Messages { most: 16 }));
}

#[test]
fn members_agree_on_the_lowest_common_number() {
    let (mut one, mut other) = (Ids::new(100), Ids::new(100));
    one.take(0);
    other.take(0);
    other.take(1);
    let common = |one: &Ids, other: &Ids| -> Vec<u64> {
        one.words().iter().zip(other.words()).map(|(one, other)| one & other).collect()
    };
    assert_eq!(Ids::lowest(&common(&one, &other)), Some(2));
    other.give_back(1);
    assert_eq!(Ids::lowest(&common(&one, &other)), Some(1));
    for id in 0..100 {
        one.take(id);
    }
    assert_eq!(Ids::lowest(one.words()), None);
}
