//! The findings about datatypes.

use super::trail::{Mismatch, Trail};
use crate::analysis::Analysis;
use goal_lang::ActionKind;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_opt::whole::Vertex;

/// The most copies, sends and receives that a finding shows. Of a longer way, the last ones are
/// shown.
const SHOWN_MAX: usize = 16;

pub(super) fn add_findings(
    analysis: &Analysis<'_>,
    mismatches: &[Mismatch],
    trail: &Trail,
    is_cut: bool,
    report: &mut Report,
) {
    for mismatch in mismatches {
        report.add(Code::DatatypeMismatch, || describe(analysis, mismatch, trail));
    }
    if is_cut {
        let message =
            "the datatypes of not all messages were followed from their writers to their readers";
        let note = "buffers overlap in so many ways that it would take too long";
        report.push(
            analysis.with_effort_help(Diagnostic::new(Code::CheckIncomplete, message).note(note)),
        );
    }
}

fn describe(analysis: &Analysis<'_>, mismatch: &Mismatch, trail: &Trail) -> Diagnostic {
    let places = &analysis.places;
    let Mismatch { typed, reader, read_as } = *mismatch;
    let [send, _] = typed.message;
    let written_as = typed.datatype.name();
    let writer = typed.writer.some().map_or("an `init`".to_owned(), |writer| places.name(writer));
    let sent = match typed.writer == send {
        true => " and sent".to_owned(),
        false => format!(", and {} has sent", places.name(send)),
    };
    let message = format!(
        "{} reads as {} what {writer} has written as {written_as}{sent}",
        places.name(reader),
        read_as.name(),
    );
    let mut found = Diagnostic::new(Code::DatatypeMismatch, message);
    let mut told: Vec<Vertex> = Vec::new();
    let way = trail.back(typed.hops).take(SHOWN_MAX).map(|vertex| {
        let what = match analysis.whole.action(vertex).kind() {
            ActionKind::Recv => "received",
            ActionKind::Send if vertex == typed.writer => {
                return (vertex, format!("written as {written_as} and sent here"));
            }
            ActionKind::Send => "sent",
            _ => "copied",
        };
        (vertex, format!("{what} here"))
    });
    let is_received = analysis.whole.action(reader).kind() == ActionKind::Recv;
    let received = if is_received { "received and " } else { "" };
    let reading = (reader, format!("{received}read as {} here", read_as.name()));
    let writing = (typed.writer, format!("written as {written_as} here"));
    for (vertex, text) in [reading].into_iter().chain(way).chain([writing]) {
        if vertex != Vertex::NONE && !told.contains(&vertex) {
            told.push(vertex);
            found = places.label(found, vertex, text);
        }
    }
    found
        .note("a message moves bytes as they are: nothing converts the elements")
        .help("use one datatype on both sides, or read the bytes by a copy only")
}
