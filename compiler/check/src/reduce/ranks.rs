//! Removes ranks.

use super::actions;
use super::reducer::Reducer;
use goal_lang::{ANY, Action, Body, BodyId, ImageId, MemoryImage, Program, RankEntry};

/// Removes ranks, with the messages from and to them. The others are renumbered.
pub(super) fn reduce(reducer: &mut Reducer<'_>) {
    reducer.take_away(reducer.best.ranks.len(), without);
}

fn without(program: &Program, gone: &[bool]) -> Option<Program> {
    let mut next = 0;
    let number: Vec<Option<u32>> = gone
        .iter()
        .map(|&gone| {
            next += u32::from(!gone);
            (!gone).then(|| next - 1)
        })
        .collect();
    if next == 0 {
        return None;
    }
    let mut left = Program::default();
    let mut bodies: Vec<Option<BodyId>> = vec![None; program.bodies.len()];
    let mut images: Vec<Option<ImageId>> = vec![None; program.images.len()];
    for (entry, _) in program.ranks.iter().zip(gone).filter(|(_, gone)| !**gone) {
        let body = *bodies[entry.body.index()].get_or_insert_with(|| {
            left.bodies.push(among(&program.bodies[entry.body.index()], &number));
            BodyId::new(left.bodies.len() - 1)
        });
        let image = entry.image.map(|image| {
            *images[image.index()].get_or_insert_with(|| {
                left.images.push(program.images[image.index()].clone());
                ImageId::new(left.images.len() - 1)
            })
        });
        left.ranks.push(RankEntry { body, image });
    }
    Some(left)
}

/// Returns a body without the messages from and to removed ranks. The other messages get the new
/// numbers of their ranks. `number` has, by rank, its new number, or `None` for a removed rank.
fn among(body: &Body, number: &[Option<u32>]) -> Body {
    let peer = |action: &Action| match *action {
        Action::Send { to: peer, .. } | Action::Recv { from: peer, .. } if peer != ANY => {
            Some(peer)
        }
        _ => None,
    };
    let mut body = body.clone();
    let goes = |action| peer(action).is_some_and(|peer| number[peer as usize].is_none());
    let gone = body.actions.iter().map(goes).collect();
    actions::remove(&mut body, gone);
    for action in &mut body.actions {
        if let Action::Send { to: peer, .. } | Action::Recv { from: peer, .. } = action
            && *peer != ANY
        {
            *peer = number[*peer as usize].expect("messages with ranks that went are gone");
        }
    }
    body
}

/// Gives each rank a body and an image of its own if all ranks have at most `actions_max` actions.
pub(super) fn unshare(program: &mut Program, actions_max: u64) {
    let actions: u64 =
        (0..program.num_ranks()).map(|rank| program.body_of(rank).len() as u64).sum();
    if program.bodies.len() == program.ranks.len() || actions > actions_max {
        return;
    }
    let bodies =
        program.ranks.iter().map(|entry| program.bodies[entry.body.index()].clone()).collect();
    let mut images: Vec<MemoryImage> = Vec::new();
    for (rank, entry) in program.ranks.iter_mut().enumerate() {
        entry.body = BodyId::new(rank);
        if let Some(image) = &mut entry.image {
            images.push(program.images[image.index()].clone());
            *image = ImageId::new(images.len() - 1);
        }
    }
    (program.bodies, program.images) = (bodies, images);
}
