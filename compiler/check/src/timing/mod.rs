//! Checks for receives that may take each other's messages. Then timing decides where bytes end up.
//!
//! Messages with the same source and tag are received in the order of their sends (paper II; MPI's
//! rule). So if the sends start one after the other, and the receives too, every run matches them
//! alike. This check looks at the rest: starts without an order, and wildcards.

mod search;

pub(crate) use search::Delay;

use crate::analysis::Analysis;
use crate::groups::{Groups, more, statement};
use crate::order::SharedOrder;
use crate::termination::{stores, taken};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{ANY, Action};
use goal_opt::whole::Vertex;
use rustc_hash::FxHashSet;
use search::Search;

/// Bound on the pairs of receives that are compared.
const PAIRS_MAX: u64 = 1 << 22;
/// Bound on the receives and sends that a finding shows.
const SHOWN_MAX: usize = 512;

/// Reports receives that may take each other's messages. Returns the delays after which a receive
/// may be left without a message, one for each pair of statements.
pub(crate) fn check<'a>(
    analysis: &'a Analysis<'a>,
    order: &mut SharedOrder<'a, 'a>,
    report: &mut Report,
) -> Vec<Delay> {
    let Analysis { whole, trace, .. } = analysis;
    let unique = order.partners();
    let open =
        |&vertex: &Vertex| is_received(analysis, vertex) && unique[vertex.index()] == Vertex::NONE;
    let mut ranks: Vec<u32> =
        whole.vertices().filter(open).map(|vertex| whole.rank(vertex)).collect();
    ranks.dedup();
    if ranks.is_empty() {
        return Vec::new();
    }
    let kept = |&vertex: &Vertex| open(&vertex) && stores(whole.action(vertex));
    let taken = match whole.vertices().any(|vertex| kept(&vertex)) {
        true => taken(whole, trace, order, analysis.options.eager_limit, analysis.options.effort),
        false => None,
    };
    let Ok(order) = order.order() else { return Vec::new() };
    let mut place = vec![0; whole.len()];
    for (at, vertex) in trace.order.iter().enumerate() {
        place[vertex.index()] = at as u32;
    }
    let mut search = Search {
        analysis,
        order,
        left: PAIRS_MAX.saturating_mul(analysis.options.effort),
        is_cut: false,
        delays: Vec::new(),
    };
    let mut found = Vec::new();
    for rank in ranks {
        let mut recvs: Vec<Vertex> =
            whole.vertices_of(rank).filter(|&vertex| is_received(analysis, vertex)).collect();
        recvs.sort_unstable_by_key(|recv| place[recv.index()]);
        found.extend(search.competing(&recvs, |vertex| unique[vertex.index()] == Vertex::NONE));
    }
    if let Some(taken) = taken {
        let known: FxHashSet<Vertex> = found.iter().flatten().copied().collect();
        let others = whole.vertices().filter(|recv| kept(recv) && !known.contains(recv));
        for recv in others {
            found.extend(search.competitors_of(recv, &taken));
        }
    }
    let groups =
        Groups::from_pairs(found.iter().map(|group| (statement(analysis, group[0]), group)));
    for (_, group, count) in groups.order {
        report.add(Code::TimingDependentMatch, || finding(analysis, group, count));
    }
    if search.is_cut {
        report.add(Code::CheckIncomplete, || {
            let message = "not all receives were looked at that may take each other's messages";
            let found = Diagnostic::new(Code::CheckIncomplete, message)
                .note("the work of comparing pairs of receives is bounded");
            analysis.with_effort_help(found)
        });
    }
    search.delays
}

/// Returns true for a receive that took a message in the traced run.
fn is_received(analysis: &Analysis<'_>, vertex: Vertex) -> bool {
    analysis.whole.is_recv(vertex) && analysis.trace.partner[vertex.index()] != Vertex::NONE
}

/// Returns the unmatched sends whose message a receive in `recvs` may take. All of `recvs` are of
/// one rank.
fn unmatched_for(analysis: &Analysis<'_>, recvs: &[Vertex]) -> impl Iterator<Item = Vertex> {
    let Analysis { whole, trace, .. } = *analysis;
    let rank = whole.rank(recvs[0]);
    whole.vertices().filter(move |&send| {
        matches!(*whole.action(send), Action::Send { to, .. } if to == rank)
            && trace.partner[send.index()] == Vertex::NONE
            && recvs.iter().any(|&recv| analysis.whole.envelope_fits(send, recv))
    })
}

/// Makes the finding about receives of a rank that may take each other's messages. Some of them may
/// be left without a message. The finding stands for `count` groups with the same statement.
pub(crate) fn finding(analysis: &Analysis<'_>, group: &[Vertex], count: u64) -> Diagnostic {
    let Analysis { whole, trace, places, .. } = analysis;
    let is_wild = group.iter().any(
        |&recv| matches!(*whole.action(recv), Action::Recv { from, tag, .. } if from == ANY || tag == ANY),
    );
    let others = match group.len() {
        2 => places.action(group[1]),
        length => format!("{} other receives", length - 1),
    };
    let message = format!(
        "{} and {others} may take each other's messages: timing decides",
        places.name(group[0])
    );
    let mut diagnostic = Diagnostic::new(Code::TimingDependentMatch, message);
    for &recv in group.iter().take(SHOWN_MAX) {
        let text = match trace.partner[recv.index()].some() {
            Some(send) => format!("in one run this takes the message of {}", places.name(send)),
            None => "in one run nothing is left for this".to_owned(),
        };
        diagnostic = places.label(diagnostic, recv, text);
    }
    let mut sends: Vec<Vertex> =
        group.iter().filter_map(|recv| trace.partner[recv.index()].some()).collect();
    if sends.len() < group.len() {
        // A send that this run leaves unmatched shows what other runs may match.
        sends.extend(unmatched_for(analysis, group));
    }
    sends.sort_unstable();
    for &send in sends.iter().take(SHOWN_MAX) {
        let text = format!("rank {} sends one of the messages", whole.rank(send));
        diagnostic = places.label(diagnostic, send, text);
    }
    let sizes_differ = sends
        .windows(2)
        .any(|pair| analysis.whole.message_size(pair[0]) != analysis.whole.message_size(pair[1]));
    let why = if is_wild {
        "a receive from any source or with any tag takes what comes first"
    } else {
        "messages of a source and a tag are taken in the order in which their sends and receives start, which nothing orders here"
    };
    let worse =
        if sizes_differ { "; as their sizes differ, some runs end with an error" } else { "" };
    diagnostic
        .note(format!("{why}{worse}{}", more(count)))
        .help("give the messages different tags, name the source, or let one wait for the other")
}
