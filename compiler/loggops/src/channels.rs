//! Which messages and receives can meet: those with one receiver, one sender and one tag.

use crate::workload::{Kind, Workload};

/// The number of no action and of no channel.
pub(crate) const NONE: u32 = u32::MAX;

/// Returns for each rank true if one of its receives has a wildcard.
pub(crate) fn wildcards(workload: &Workload) -> Vec<bool> {
    let has_wildcard = |action| workload.record(action).has_wildcard();
    (0..workload.num_ranks() as u32).map(|rank| workload.actions(rank).any(has_wildcard)).collect()
}

/// Calls `visit` with the sends and the receives of each channel, both in the order of the text. A
/// channel has the messages of one receiver, sender and tag. Ranks that are `skipped` have none.
///
/// Linear in actions but for sorting the messages of each rank, which mostly lie in order.
pub(crate) fn visit_channels(
    workload: &Workload,
    skipped: &[bool],
    mut visit: impl FnMut(&[u32], &[u32]),
) {
    let ranks = workload.num_ranks();
    // The sends by their receiver: those of rank r end at `ends[r]`.
    let mut ends = vec![0_u32; ranks + 1];
    for rank in 0..ranks as u32 {
        for action in workload.actions(rank) {
            let record = workload.record(action);
            if record.kind == Kind::Send {
                ends[record.peer as usize + 1] += 1;
            }
        }
    }
    for rank in 0..ranks {
        ends[rank + 1] += ends[rank];
    }
    let mut sends = vec![(0, 0); ends[ranks] as usize];
    for rank in 0..ranks as u32 {
        for action in workload.actions(rank) {
            let record = workload.record(action);
            if record.kind == Kind::Send {
                let end = &mut ends[record.peer as usize];
                sends[*end as usize] = (key(rank, record.tag), action);
                *end += 1;
            }
        }
    }
    let (mut receives, mut ids) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut first = 0;
    for rank in 0..ranks as u32 {
        let incoming = &mut sends[first..ends[rank as usize] as usize];
        first = ends[rank as usize] as usize;
        if skipped[rank as usize] {
            continue;
        }
        receives.clear();
        for action in workload.actions(rank) {
            let record = workload.record(action);
            if record.kind == Kind::Recv {
                receives.push((key(record.peer, record.tag), action));
            }
        }
        // Actions ascend already, so equal keys keep the order of the text.
        incoming.sort();
        receives.sort();
        let (mut incoming, mut posted) = (&*incoming, &*receives);
        while let Some(&(key, _)) = match (incoming.first(), posted.first()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, None) | (None, one) => one,
        } {
            for (from, ids) in [&mut incoming, &mut posted].into_iter().zip(&mut ids) {
                let len = from.iter().take_while(|(other, _)| *other == key).count();
                ids.clear();
                ids.extend(from[..len].iter().map(|&(_, action)| action));
                *from = &from[len..];
            }
            visit(&ids[0], &ids[1]);
        }
    }
}

fn key(peer: u32, tag: u32) -> u64 {
    u64::from(peer) << 32 | u64::from(tag)
}
