//! Finds sends that have certainly started when a receive has ended, whichever messages the
//! receives take.
//!
//! When n receives have ended, n fitting messages have come. If fewer than n other sends can have
//! started without a certain send, that send has started, too.

use super::facts::Facts;
use crate::order::Order;
use goal_opt::whole::{Event, Ordered, Vertex};

/// The most competing receives of a rank, and the most messages for them, that are compared. Ranks
/// with more are skipped, as all are compared in pairs.
const COMPARED_MAX: usize = 64;

/// Returns pairs of a send and a receive: in every run, the send has started when the receive has
/// ended. Leaves out the pairs that `order` has already.
pub(super) fn starts(facts: &Facts<'_, '_>, order: &mut Order<'_, '_>) -> Vec<[Vertex; 2]> {
    let mut found = Vec::new();
    for competition in facts.competitions.values() {
        let recvs: Vec<Vertex> = competition.recvs.values().flatten().copied().collect();
        let sends: Vec<Vertex> = competition.sends.values().flatten().copied().collect();
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
                |&send: &Vertex| ended.iter().any(|&recv| facts.whole.envelope_fits(send, recv));
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
