//! Checks that sends and receives match: each message finds a receive of its size, and each receive
//! gets a message.

use super::pairing::{Pairing, channel};
use crate::analysis::Analysis;
use crate::groups::{Groups, more, statement};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{ANY, Action};
use goal_opt::whole::Vertex;
use rustc_hash::FxHashMap;

/// The number of matched messages that a finding shows beside an unmatched one.
const MATCHED_SHOWN_MAX: usize = 4;

/// Reports matched sends and receives that differ in size.
pub(crate) fn check_sizes(analysis: &Analysis<'_>, report: &mut Report) {
    let Analysis { whole, trace, places, .. } = analysis;
    let differs = |&recv: &Vertex| {
        let send = trace.partner[recv.index()];
        send != Vertex::NONE
            && whole.is_recv(recv)
            && analysis.whole.message_size(send) != analysis.whole.message_size(recv)
    };
    let found = whole.vertices().filter(differs).map(|recv| {
        ((statement(analysis, trace.partner[recv.index()]), statement(analysis, recv)), recv)
    });
    for (_, recv, count) in Groups::from_pairs(found).order {
        report.add(Code::SizeMismatch, || {
            let send = trace.partner[recv.index()];
            let (sent, received) =
                (analysis.whole.message_size(send), analysis.whole.message_size(recv));
            let message = format!(
                "{} sends {sent} bytes to {}, which receives {received}",
                places.name(send),
                places.name(recv)
            );
            let labelled = Diagnostic::new(Code::SizeMismatch, message);
            let labelled = places.label(
                labelled,
                send,
                format!("rank {} sends {sent} bytes", whole.rank(send)),
            );
            places
                .label(
                    labelled,
                    recv,
                    format!("rank {} receives {received} bytes of it", whole.rank(recv)),
                )
                .note(format!("a message and its receive have the same size{}", more(count)))
                .help(format!("give both {sent} bytes, or both {received}"))
        });
    }
}

/// Reports sends without a receive and receives without a message.
pub(crate) fn check_ends(analysis: &Analysis<'_>, pairing: &Pairing, report: &mut Report) {
    let near = Near::new(analysis, pairing);
    let found = pairing.unmatched.iter().map(|&vertex| (statement(analysis, vertex), vertex));
    for (_, vertex, count) in Groups::from_pairs(found).order {
        let is_recv = analysis.whole.is_recv(vertex);
        let code = if is_recv { Code::UnmatchedRecv } else { Code::UnmatchedSend };
        report.add(code, || finding(analysis, pairing, &near, vertex, count));
    }
}

/// Makes the finding about an unmatched send or receive. It stands for `count` unmatched actions
/// with the same statement.
fn finding(
    analysis: &Analysis<'_>,
    pairing: &Pairing,
    near: &Near,
    vertex: Vertex,
    count: u64,
) -> Diagnostic {
    let Analysis { whole, places, .. } = analysis;
    let key @ (destination, source, tag) = channel(analysis, vertex).expect("a message");
    let count_of = pairing.counted(key);
    let (name, rank, other) = (places.name(vertex), whole.rank(vertex), near.to(analysis, vertex));
    let diagnostic = if let Action::Recv { .. } = whole.action(vertex) {
        let from = wildcard(source, "rank");
        let with = wildcard(tag, "tag");
        let sends = match count_of.sends {
            0 => format!("no rank sends rank {destination} such a message"),
            1 => "only one such message is sent, too few for all receives that take it".to_owned(),
            sends => format!(
                "only {sends} such messages are sent, too few for all receives that take them"
            ),
        };
        let diagnostic = Diagnostic::new(
            Code::UnmatchedRecv,
            format!("{name}: no message comes from {from} with {with}"),
        );
        places
            .label(
                diagnostic,
                vertex,
                format!("rank {rank} waits for a message from {from} with {with}"),
            )
            .note(format!("{sends}{}", more(count)))
    } else {
        let wild = [(ANY, tag), (source, ANY), (ANY, ANY)];
        let wild: u64 = wild.iter().map(|&(s, t)| pairing.counted((destination, s, t)).recvs).sum();
        let recvs = match (count_of.recvs, wild) {
            (0, 0) => format!("rank {destination} has no such receive"),
            (1, 0) => {
                format!("rank {destination} has one such receive for {} messages", count_of.sends)
            }
            (recvs, 0) => {
                format!(
                    "rank {destination} has {recvs} such receives for {} messages",
                    count_of.sends
                )
            }
            (recvs, wild) => format!(
                "of the receives of rank {destination}, {} may take it, too few for all messages that they may take",
                recvs + wild
            ),
        };
        let message =
            format!("{name}: no receive takes its message to rank {destination} with tag {tag}");
        let size = analysis.whole.message_size(vertex);
        places
            .label(
                Diagnostic::new(Code::UnmatchedSend, message),
                vertex,
                format!("rank {rank} sends {size} bytes to rank {destination} with tag {tag}"),
            )
            .note(format!("{recvs}{}", more(count)))
    };
    let diagnostic = label_matched_instead(analysis, pairing, vertex, destination, diagnostic);
    match other {
        Some((other, differs)) => {
            let what = if let Action::Recv { .. } = whole.action(other) {
                format!(
                    "rank {} waits for {}, which is not sent",
                    whole.rank(other),
                    places.message(other)
                )
            } else {
                format!(
                    "rank {} sends {}, which has no receive",
                    whole.rank(other),
                    places.message(other)
                )
            };
            places
                .label(diagnostic, other, what)
                .help(format!("if {} is meant, give both the same {differs}", places.name(other)))
        }
        None => {
            let what = if let Action::Recv { .. } = whole.action(vertex) {
                ["send to", "receive"]
            } else {
                ["receive to", "send"]
            };
            let help =
                format!("add the {} rank {destination}, or take the {} out", what[0], what[1]);
            diagnostic.help(help)
        }
    }
}

/// Labels at most [`MATCHED_SHOWN_MAX`] pairs of a send and a receive. In each pair, one of both
/// could have matched `vertex` instead. The pairs matched, or would match if the run went on.
/// `destination` is the rank that the message of `vertex` goes to.
fn label_matched_instead(
    analysis: &Analysis<'_>,
    pairing: &Pairing,
    vertex: Vertex,
    destination: u32,
    mut diagnostic: Diagnostic,
) -> Diagnostic {
    let Analysis { whole, trace, places, .. } = analysis;
    let is_recv = whole.is_recv(vertex);
    let met = whole.vertices_of(destination).filter(|recv| whole.is_recv(*recv));
    let send = |recv: Vertex| {
        trace.partner[recv.index()].some().or_else(|| pairing.expected.get(&recv).copied())
    };
    let met = met.filter_map(|recv| Some([send(recv)?, recv]));
    let met = met.filter(|&[send, recv]| match is_recv {
        true => analysis.whole.envelope_fits(send, vertex),
        false => analysis.whole.envelope_fits(vertex, recv),
    });
    for [send, recv] in met.take(MATCHED_SHOWN_MAX) {
        let text = format!("rank {destination} takes the message of {} here", places.name(send));
        diagnostic = places.label(diagnostic, recv, text);
        let text = format!("{} takes this message", places.name(recv));
        diagnostic = places.label(diagnostic, send, text);
    }
    diagnostic
}

fn wildcard(number: u32, what: &str) -> String {
    if number == ANY { format!("any {what}") } else { format!("{what} {number}") }
}

/// Unmatched sends and receives, in three tables. A key of table i has true for a receive, and two
/// of destination, source and tag, without the i-th of [`DIFFERENCES`]. Each key has the first such
/// action.
struct Near([FxHashMap<(bool, u32, u32), Vertex>; 3]);

/// The property that the keys of each table lack, in the order of [`keys`].
const DIFFERENCES: [&str; 3] = ["tag", "source", "destination"];

/// The keys of the three tables for a destination, a source and a tag.
fn keys((destination, source, tag): (u32, u32, u32)) -> [(u32, u32); 3] {
    [(destination, source), (destination, tag), (source, tag)]
}

impl Near {
    fn new(analysis: &Analysis<'_>, pairing: &Pairing) -> Self {
        let mut near = Self(Default::default());
        for &vertex in &pairing.unmatched {
            let is_recv = analysis.whole.is_recv(vertex);
            let channel = channel(analysis, vertex).expect("a message");
            for (map, (a, b)) in near.0.iter_mut().zip(keys(channel)) {
                map.entry((is_recv, a, b)).or_insert(vertex);
            }
        }
        near
    }

    /// Finds an unmatched receive for a send, or an unmatched send for a receive, that differs in
    /// one property only. Returns it with the name of that property.
    fn to(&self, analysis: &Analysis<'_>, vertex: Vertex) -> Option<(Vertex, &'static str)> {
        let wants_recv = !analysis.whole.is_recv(vertex);
        let keys = keys(channel(analysis, vertex)?);
        self.0
            .iter()
            .zip(keys)
            .zip(DIFFERENCES)
            .find_map(|((map, (a, b)), differs)| Some((*map.get(&(wants_recv, a, b))?, differs)))
    }
}
