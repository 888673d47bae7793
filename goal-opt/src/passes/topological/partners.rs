//! Which receive a send is for, as far as the layouts tell: the n-th send of a channel goes to the n-th receive.

use super::order::Channels;
use goal_lang::{Action, BodyId, Program};
use rayon::prelude::*;

/// An end of a message: in which body it is, and which action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) body: BodyId,
    pub(super) action: u32,
}

/// A message end with what the other end has to have the same.
#[derive(Clone, Copy)]
struct Open {
    peer: u32,
    tag: u32,
    action: u32,
}

/// The sends and receives that belong together; those to ranks that receive with wildcards are left out. Of ranks with the same actions
/// the first sends for all, so the work is that of the bodies, whatever the number of ranks: linear but for sorting the messages
/// of each.
pub(super) fn partners(program: &Program, channels: &Channels) -> Vec<(End, End)> {
    let mut first_rank = vec![u32::MAX; program.bodies.len()];
    for (rank, entry) in program.ranks.iter().enumerate().rev() {
        first_rank[entry.body.index()] = rank as u32;
    }
    let bodies = || (0..program.bodies.len()).into_par_iter();
    let receives: Vec<Vec<Open>> = bodies()
        .map(|body| if channels.is_wild(body) { Vec::new() } else { ends(program, body, false) })
        .collect();
    let pairs_of = |body: usize| {
        let (source, sends) = (first_rank[body], ends(program, body, true));
        let mut pairs = Vec::with_capacity(sends.len());
        for channel in sends.chunk_by(|a, b| (a.peer, a.tag) == (b.peer, b.tag)) {
            let Open { peer, tag, .. } = channel[0];
            let theirs = program.ranks[peer as usize].body;
            let receives = &receives[theirs.index()];
            let from = receives.partition_point(|receive| (receive.peer, receive.tag) < (source, tag));
            let listening = receives[from..].iter().take_while(|open| (open.peer, open.tag) == (source, tag));
            for (send, receive) in channel.iter().zip(listening) {
                let sent = End { body: BodyId::new(body), action: send.action };
                pairs.push((sent, End { body: theirs, action: receive.action }));
            }
        }
        pairs
    };
    bodies().filter(|&body| first_rank[body] != u32::MAX).flat_map_iter(pairs_of).collect()
}

/// The sends or the receives of a body, by channel and then in their order.
fn ends(program: &Program, body: usize, sends: bool) -> Vec<Open> {
    let actions = program.bodies[body].actions.iter().enumerate();
    let mut ends: Vec<Open> = actions
        .filter_map(|(action, what)| match *what {
            Action::Send { to: peer, tag, .. } if sends => Some(Open { peer, tag, action: action as u32 }),
            Action::Recv { from: peer, tag, .. } if !sends => Some(Open { peer, tag, action: action as u32 }),
            _ => None,
        })
        .collect();
    ends.sort_by_key(|end| (end.peer, end.tag));
    ends
}
