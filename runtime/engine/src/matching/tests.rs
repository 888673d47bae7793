//! Compares the matching with a model that searches plain lists.

use super::{Matching, SpaceId};
use crate::heap::{Heap, Private};
use goal_lang::ANY;

#[derive(Default)]
struct Model {
    posted: Vec<(u32, u32, u32)>,
    waiting: Vec<(u32, u32, u32)>,
}

fn fits(posted: (u32, u32), message: (u32, u32)) -> bool {
    (posted.0 == ANY || posted.0 == message.0) && (posted.1 == ANY || posted.1 == message.1)
}

impl Model {
    fn post(&mut self, source: u32, tag: u32, id: u32) -> Option<u32> {
        let found = self.waiting.iter().position(|&(s, t, _)| fits((source, tag), (s, t)));
        match found {
            Some(at) => Some(self.waiting.remove(at).2),
            None => {
                self.posted.push((source, tag, id));
                None
            }
        }
    }

    fn arrive(&mut self, source: u32, tag: u32, id: u32) -> Option<u32> {
        let found = self.posted.iter().position(|&(s, t, _)| fits((s, t), (source, tag)));
        match found {
            Some(at) => Some(self.posted.remove(at).2),
            None => {
                self.waiting.push((source, tag, id));
                None
            }
        }
    }
}

fn arrive(
    heap: &Heap,
    matching: &mut Matching<u32, u32>,
    space: SpaceId,
    source: u32,
    tag: u32,
    id: u32,
) -> Option<u32> {
    let receive = matching.take_posted(heap, space, source, tag);
    if receive.is_none() {
        matching.keep(heap, space, source, tag, id);
    }
    receive
}

/// Early messages, then posts and arrivals mixed; two spaces that must not see each other.
fn compare(seed: u64, wildcards: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let private = Private::new();
    let heap = private.heap();
    let mut matching = Matching::default();
    let mut both =
        [matching.add_space(heap), matching.add_space(heap)].map(|space| (space, Model::default()));
    for step in 0..400 {
        if step == 40 {
            both.iter().for_each(|(space, _)| matching.open_space(heap, *space, wildcards));
        }
        let (space, model) = &mut both[random.usize(..2)];
        let (mut source, mut tag) = (random.u32(..3), random.u32(..3));
        if step >= 40 && random.bool() {
            if wildcards && random.u8(..3) == 0 {
                source = ANY;
            }
            if wildcards && random.u8(..3) == 0 {
                tag = ANY;
            }
            assert_eq!(
                matching.post(heap, *space, source, tag, step),
                model.post(source, tag, step),
                "seed {seed}"
            );
        } else {
            let found = arrive(heap, &mut matching, *space, source, tag, step);
            assert_eq!(found, model.arrive(source, tag, step), "seed {seed}");
        }
    }
    // Messages without a receive are removed with their space.
    for (space, model) in both {
        let mut left = Vec::new();
        matching.remove_space(heap, space, |message| left.push(message));
        let expected: Vec<u32> = model.waiting.iter().map(|&(_, _, id)| id).collect();
        assert_eq!(left, expected);
    }
}

#[test]
fn agrees_with_a_plain_model() {
    for seed in 0..goal_filetest::seeds(400) {
        compare(seed, seed % 2 == 0);
    }
}

#[test]
fn keeps_nothing_of_what_was_matched() {
    let private = Private::new();
    let heap = private.heap();
    let mut matching: Matching<u32, u32> = Matching::default();
    let space = matching.add_space(heap);
    matching.open_space(heap, space, false);
    for i in 0..10_000 {
        assert_eq!(matching.post(heap, space, i, i, i), None);
    }
    for i in 0..10_000 {
        assert_eq!(matching.take_posted(heap, space, i, i), Some(i));
    }
    assert!(matching.queues.is_empty() && matching.posted.is_empty());
}
