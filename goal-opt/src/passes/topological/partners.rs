//! Pairs sends and receives as the layouts suggest: the n-th send of a channel with the n-th
//! receive.

use super::ends::Ends;
use super::order::View;
use goal_lang::Program;

/// Calls `visit` with pairs of a send and a receive, each as its body and action. Messages to ranks
/// that receive with wildcards are left out. Of ranks with the same body, only the first one's
/// sends are used, so the work depends on the bodies, not on the number of ranks: linear but for a
/// search for each channel.
pub(super) fn visit_partners(
    program: &Program,
    views: &[View],
    [sends, receives]: [&Ends; 2],
    mut visit: impl FnMut((usize, u32), (usize, u32)),
) {
    let mut has_sent = vec![false; program.bodies.len()];
    for (source, entry) in program.ranks.iter().enumerate() {
        let body = entry.body.index();
        if std::mem::replace(&mut has_sent[body], true) {
            continue;
        }
        for channel in sends.of_body(body).chunk_by(|a, b| a.channel() == b.channel()) {
            let theirs = program.ranks[channel[0].peer as usize].body.index();
            if views[theirs].is_wild() {
                continue;
            }
            let wanted = (source as u32, channel[0].tag);
            let receives = receives.of_body(theirs);
            let from = receives.partition_point(|receive| receive.channel() < wanted);
            let listening =
                receives[from..].iter().take_while(|receive| receive.channel() == wanted);
            for (send, receive) in channel.iter().zip(listening) {
                visit((body, send.action), (theirs, receive.action));
            }
        }
    }
}
