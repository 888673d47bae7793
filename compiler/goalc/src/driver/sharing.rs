//! Programs that are put together rank by rank.

use goal_lang::{Body, BodyId, ImageId, MemoryImage, Program, RankEntry};
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A program in which equal ranks share their bodies and images.
#[derive(Default)]
pub(super) struct Sharing {
    program: Program,
    /// By hash, the last such body.
    bodies: FxHashMap<u64, BodyId>,
    images: FxHashMap<MemoryImage, ImageId>,
}

impl Sharing {
    /// Adds the next rank.
    pub(super) fn rank(&mut self, body: Body, image: Option<MemoryImage>) {
        let Self { program, bodies, images } = self;
        let image = image.map(|image| {
            *images.entry(image).or_insert_with_key(|image| {
                program.images.push(image.clone());
                ImageId::new(program.images.len() - 1)
            })
        });
        let hash = hash(&body);
        let is_same = |id: BodyId| {
            let known = &program.bodies[id.index()];
            known.same_graph(&body)
                && known.debug.order == body.debug.order
                && known.debug.labels == body.debug.labels
        };
        let known = bodies.get(&hash).copied().filter(|&id| is_same(id));
        let body = known.unwrap_or_else(|| {
            program.bodies.push(body);
            let id = BodyId::new(program.bodies.len() - 1);
            bodies.insert(hash, id);
            id
        });
        program.ranks.push(RankEntry { body, image });
    }

    pub(super) fn finish(self) -> Program {
        self.program
    }
}

/// Returns the hash of a graph.
pub(super) fn hash(body: &Body) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&body.actions, &body.requires, &body.irequires, &body.pieces).hash(&mut hasher);
    hasher.finish()
}
