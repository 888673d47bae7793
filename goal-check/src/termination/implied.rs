//! Which sends have started when a receive has ended, whoever took whose message.
//!
//! Where some receives have all ended, as many messages that fit them have come. So a send has
//! started if the other sends that may have started without it are fewer.

use super::scene::Scene;
use crate::order::Order;
use goal_opt::whole::{Event, Ordered, Vertex};

/// Most receives of a rank, and most messages for them, that are compared in pairs.
const COMPARED_MAX: usize = 64;

/// Sends that have started in every run when a receive has ended: send and receive.
pub(super) fn starts(scene: &Scene<'_, '_>, order: &mut Order<'_, '_>) -> Vec<[Vertex; 2]> {
    let mut found = Vec::new();
    for place in scene.places.values() {
        let recvs: Vec<Vertex> = place.recvs.values().flatten().copied().collect();
        let sends: Vec<Vertex> = place.sends.values().flatten().copied().collect();
        if recvs.len() > COMPARED_MAX || sends.len() > COMPARED_MAX {
            continue;
        }
        for &recv in &recvs {
            let ended: Vec<Vertex> = recvs
                .iter()
                .copied()
                .filter(|&other| is_before(order, Event::End(other), Event::End(recv)))
                .collect();
            let may_come =
                |&send: &Vertex| ended.iter().any(|&recv| scene.whole.envelope_fits(send, recv));
            let coming: Vec<Vertex> = sends.iter().copied().filter(may_come).collect();
            for &send in &coming {
                let without = coming.iter().filter(|&&other| {
                    other != send && !is_before(order, Event::Start(send), Event::Start(other))
                });
                if without.count() < ended.len()
                    && !is_before(order, Event::Start(send), Event::End(recv))
                {
                    found.push([send, recv]);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

fn is_before(order: &mut Order<'_, '_>, first: Event, second: Event) -> bool {
    order.happens_before(first, second) == Ordered::Yes
}
