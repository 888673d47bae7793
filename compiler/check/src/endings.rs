//! Checks for programs that end in one order of events and not in another.
//!
//! [`crate::termination`] defines the permitted orders and decides the question. A program without
//! a finding ends in every one of them.

use super::pairing::Pairing;
use crate::analysis::Analysis;
use crate::limits::SEARCH_STEPS_MAX;
use crate::order::SharedOrder;
use crate::termination::{Verdict, decide};
use crate::{cycles, deadlock};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_opt::whole::{Room, Trace, Vertex};

/// The most receives that a note names because they take another message in the stuck order.
const NAMED_MAX: usize = 4;

/// The verdicts on a program whose abstract run came to its end, for three settings.
pub(crate) struct Endings {
    /// The verdict with the eager limit of the options and unlimited room for messages without a
    /// receive.
    usual: Verdict,
    /// The verdict with the room that the options grant for messages without a receive.
    without_room: Verdict,
    /// The verdict with an eager limit of 0: every send waits for its receive.
    unbuffered: Verdict,
}

/// Searches for orders of events in which a program does not end although its abstract run did.
/// Adds to `order` the matches that hold in every order of events.
pub(crate) fn find<'a>(analysis: &Analysis<'a>, order: &mut SharedOrder<'a, 'a>) -> Endings {
    let Analysis { whole, trace, options, .. } = *analysis;
    let mut decide =
        |limit, room: Option<&Room>| decide(whole, trace, order, limit, room, options.effort);
    let usual = decide(options.eager_limit, None);
    let (mut without_room, mut unbuffered) = (Verdict::Ends, Verdict::Ends);
    if matches!(usual, Verdict::Ends) {
        // This verdict is not reported. The search adds to `order` the matches that hold in every
        // order with any eager limit.
        let largest = whole.vertices().map(|vertex| analysis.whole.message_size(vertex)).max();
        if largest.is_some_and(|largest| largest > options.eager_limit) {
            decide(u64::MAX, None);
        }
        if let Some(room) = Room::new(whole, options.eager_limit, options.unexpected_limit) {
            without_room = decide(options.eager_limit, Some(&room));
        }
        if options.eager_limit > 0 && trace.least_eager_limit == 0 {
            unbuffered = decide(0, None);
        }
    }
    Endings { usual, without_room, unbuffered }
}

/// Reports the orders that get stuck. Returns false if a verdict is unknown.
pub(crate) fn report_verdicts(
    analysis: &Analysis<'_>,
    endings: &Endings,
    report: &mut Report,
) -> bool {
    match &endings.usual {
        Verdict::Ends => {}
        Verdict::Unknown => return false,
        Verdict::Hangs(stuck) => report_stuck(analysis, stuck, report),
        Verdict::SizesDiffer(stuck, recv) => {
            report.add(Code::SizeMismatch, || size_finding(analysis, stuck, *recv));
        }
    }
    if let Verdict::Hangs(stuck) = &endings.without_room {
        let limit = analysis.options.unexpected_limit;
        let setting = format!("a rank that keeps at most {limit} bytes of them");
        report.add(Code::ReliesOnBuffering, || buffering_finding(analysis, stuck, &setting));
    }
    if let Verdict::Hangs(stuck) = &endings.unbuffered {
        report.add(Code::ReliesOnBuffering, || {
            let setting = format!("{} 0", analysis.options.names.eager_limit);
            buffering_finding(analysis, stuck, &setting)
        });
    }
    ![&endings.without_room, &endings.unbuffered]
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Unknown))
}

/// Reports that the search did not visit all orders.
pub(crate) fn report_unknown(analysis: &Analysis<'_>, report: &mut Report) {
    report.add(Code::CheckIncomplete, || {
        let message = "it was not found out whether the program ends in every order of events";
        let bound = SEARCH_STEPS_MAX.saturating_mul(analysis.options.effort);
        analysis.with_effort_help(Diagnostic::new(Code::CheckIncomplete, message).note(format!(
                "receives may take each other's messages, and the search through the orders looks at no more than {bound} actions"
            )),
        )
    });
}

/// Reports an order in which the program gets stuck, as a deadlock in one of several orders.
fn report_stuck(analysis: &Analysis<'_>, stuck: &Trace, report: &mut Report) {
    let why = format!(
        "; in another order of events the program ends{}",
        differing_matches(analysis, stuck)
    );
    let analysis = Analysis { trace: stuck, ..*analysis };
    deadlock::report_stuck(&analysis, &pairing(&analysis), &deadlock::Cause::Order(why), report);
}

/// Pairs the sends and receives of a stuck run that would match next. No end counts as unmatched,
/// as every send and receive matches in another order.
fn pairing(analysis: &Analysis<'_>) -> Pairing {
    let mut pairing = Pairing::new(analysis);
    pairing.unmatched.clear();
    pairing
}

/// The finding that a receive may take a message of another size.
fn size_finding(analysis: &Analysis<'_>, stuck: &Trace, recv: Vertex) -> Diagnostic {
    let Analysis { whole, places, .. } = *analysis;
    let send = stuck.partner[recv.index()];
    let [sent, received] = [send, recv].map(|vertex| analysis.whole.message_size(vertex));
    let message = format!(
        "{} may take the message of {}, which has {sent} bytes and not {received}",
        places.name(recv),
        places.name(send)
    );
    let found = Diagnostic::new(Code::SizeMismatch, message);
    let found =
        places.label(found, recv, format!("rank {} receives {received} bytes", whole.rank(recv)));
    places
        .label(found, send, format!("rank {} sends {sent} bytes", whole.rank(send)))
        .note(format!("timing decides who takes it{}", differing_matches(analysis, stuck)))
        .help("give the messages different tags, name the source, or let one wait for the other")
}

/// The finding that the program gets stuck in some order of events with `setting`. It does so in no
/// order with the eager limit of the options and unlimited room for messages without a receive.
fn buffering_finding(analysis: &Analysis<'_>, stuck: &Trace, setting: &str) -> Diagnostic {
    let stuck_here = Analysis { trace: stuck, ..*analysis };
    let message = "there are orders of events in which the program ends only where messages are sent before their receives are there";
    let found = Diagnostic::new(Code::ReliesOnBuffering, message)
        .note(format!("with {setting} it may get stuck{}", differing_matches(analysis, stuck)));
    cycles::add_first_cycle(&stuck_here, &pairing(&stuck_here), found)
}

/// Describes a stuck order of events: names the receives that take another message in `stuck` than
/// in the run that ends.
fn differing_matches(analysis: &Analysis<'_>, stuck: &Trace) -> String {
    let Analysis { whole, trace, places, .. } = *analysis;
    let differs = |&recv: &Vertex| {
        whole.is_recv(recv)
            && stuck.partner[recv.index()] != Vertex::NONE
            && stuck.partner[recv.index()] != trace.partner[recv.index()]
    };
    let name = |recv: Vertex| {
        format!(
            "{} takes the message of {}",
            places.name(recv),
            places.name(stuck.partner[recv.index()])
        )
    };
    let mut differing = whole.vertices().filter(differs);
    let named: Vec<String> = differing.by_ref().take(NAMED_MAX).map(name).collect();
    match (named.len(), differing.count()) {
        (0, _) => String::new(),
        (_, 0) => format!("; here {}", named.join(", ")),
        (_, more) => {
            format!("; here {}, and {more} more receives take other messages", named.join(", "))
        }
    }
}
