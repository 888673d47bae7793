//! Programs that end in one order of events and not in another.
//!
//! [`crate::whole`] defines in `orders` what is permitted and how it is decided: a program without
//! a finding ends in every order.

use super::pairing::Pairing;
use crate::analysis::Analysis;
use crate::deadlock;
use crate::limits::SEARCH_STEPS_MAX;
use crate::order::SharedOrder;
use crate::termination::{Verdict, decide};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_opt::whole::{Room, Trace, Vertex};

/// Messages that are named because another receive takes them than in an order that ends.
const NAMED_MAX: usize = 4;

/// The verdicts on a program that ends in the first order that was tried.
pub(crate) struct Endings {
    /// As the options say.
    usual: Verdict,
    /// Where ranks lack room for messages without a receive.
    without_room: Verdict,
    /// Where every send waits for its receive.
    unbuffered: Verdict,
}

/// Looks for orders of events in which a program does not end though it ends in the first that was
/// tried. What is found out about who receives what goes into `order`.
pub(crate) fn find<'a>(analysis: &Analysis<'a>, order: &mut SharedOrder<'a, 'a>) -> Endings {
    let Analysis { whole, trace, options, .. } = *analysis;
    let mut decide =
        |limit, room: Option<&Room>| decide(whole, trace, order, limit, room, options.effort);
    let usual = decide(options.eager_limit, None);
    let (mut without_room, mut unbuffered) = (Verdict::Ends, Verdict::Ends);
    if matches!(usual, Verdict::Ends) {
        // Nothing is told of this: it is about who receives what in all orders with any limit.
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

/// Tells of these orders. Returns false where it was not found out whether there are any.
pub(crate) fn tell(analysis: &Analysis<'_>, endings: &Endings, report: &mut Report) -> bool {
    match &endings.usual {
        Verdict::Ends => {}
        Verdict::Unknown => return false,
        Verdict::Hangs(stuck) => tell_stuck(analysis, stuck, report),
        Verdict::SizesDiffer(stuck, recv) => {
            report.add(Code::SizeMismatch, || tell_sizes(analysis, stuck, *recv));
        }
    }
    if let Verdict::Hangs(stuck) = &endings.without_room {
        let limit = analysis.options.unexpected_limit;
        let where_ = format!("a rank that keeps at most {limit} bytes of them");
        report.add(Code::ReliesOnBuffering, || tell_buffering(analysis, stuck, &where_));
    }
    if let Verdict::Hangs(stuck) = &endings.unbuffered {
        report.add(Code::ReliesOnBuffering, || {
            let where_ = format!("{} 0", analysis.options.names.eager_limit);
            tell_buffering(analysis, stuck, &where_)
        });
    }
    ![&endings.without_room, &endings.unbuffered]
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Unknown))
}

/// Says that not all orders were looked at.
pub(crate) fn tell_unknown(analysis: &Analysis<'_>, report: &mut Report) {
    report.add(Code::CheckIncomplete, || {
        let message = "it was not found out whether the program ends in every order of events";
        let bound = SEARCH_STEPS_MAX.saturating_mul(analysis.options.effort);
        analysis.with_effort_help(Diagnostic::new(Code::CheckIncomplete, message).note(format!(
                "receives may take each other's messages, and the search through the orders looks at no more than {bound} actions"
            )),
        )
    });
}

fn tell_stuck(analysis: &Analysis<'_>, stuck: &Trace, report: &mut Report) {
    let why = format!("; in another order of events the program ends{}", taken(analysis, stuck));
    let analysis = Analysis { trace: stuck, ..*analysis };
    deadlock::tell(&analysis, &pairing(&analysis), &deadlock::Cause::Order(why), report);
}

/// Pairs the sends and receives that would meet next. Nothing is unmatched: in another order
/// everything meets.
fn pairing(analysis: &Analysis<'_>) -> Pairing {
    let mut pairing = Pairing::new(analysis);
    pairing.unmatched.clear();
    pairing
}

fn tell_sizes(analysis: &Analysis<'_>, stuck: &Trace, recv: Vertex) -> Diagnostic {
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
        .note(format!("timing decides who takes it{}", taken(analysis, stuck)))
        .help("give the messages different tags, name the source, or let one wait for the other")
}

fn tell_buffering(analysis: &Analysis<'_>, stuck: &Trace, where_: &str) -> Diagnostic {
    let stuck_here = Analysis { trace: stuck, ..*analysis };
    let message = "there are orders of events in which the program ends only where messages are sent before their receives are there";
    let found = Diagnostic::new(Code::ReliesOnBuffering, message)
        .note(format!("with {where_} it may get stuck{}", taken(analysis, stuck)));
    deadlock::first_cycle(&stuck_here, &pairing(&stuck_here), found)
}

/// The order that shows it, told by who takes another message than in the order that ends.
fn taken(analysis: &Analysis<'_>, stuck: &Trace) -> String {
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
