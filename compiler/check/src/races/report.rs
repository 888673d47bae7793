//! The findings about accesses.

use super::fix::Fixes;
use super::found::{Details, Found, Wait};
use super::sweep::{Bytes, Fault};
use crate::analysis::Analysis;
use crate::places::in_words;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{ActionId, BodyId};
use goal_opt::whole::Vertex;

/// Adds a finding for each fault, and findings about bounds that were reached.
pub(super) fn add_findings(analysis: &Analysis<'_>, found: &Found, report: &mut Report) {
    let mut fixes = Fixes::new(analysis.whole, &analysis.places);
    for (&(body, fault), details) in &found.faults {
        let code = match fault {
            Fault::Race(..) => Code::Race,
            Fault::Uninitialised(_) => Code::UninitialisedRead,
            Fault::Lost(..) => Code::LostData,
        };
        let Details { bytes, ranks, wait, is_doubtful } = details;
        let mut describe = || {
            let told =
                Description { analysis, body, ranks, wait: *wait }.finding(code, fault, bytes);
            match wait.and_then(|wait| fixes.fix(ranks[0], wait)) {
                Some(fix) => told.fix(fix),
                None => told,
            }
        };
        if *is_doubtful {
            let why = "in one order of events messages order the two; as receives may take each other's messages, it is not known \
                       if they do so in all";
            report.push(describe().note(why).doubtful());
        } else {
            report.add(code, describe);
        }
    }
    if found.undecided > 0 {
        let message = format!(
            "of {} pairs of accesses to the same bytes it was not found out whether they are ordered",
            found.undecided
        );
        let note = "the search for paths of dependencies between them is bounded; none of them is reported as a race";
        report.push(
            analysis.with_effort_help(Diagnostic::new(Code::CheckIncomplete, message).note(note)),
        );
    }
    if !found.cut.is_empty() {
        let ranks = ranks_of(&found.cut);
        let message =
            format!("not all accesses of {ranks} to memory were compared with each other");
        let note = "their buffers overlap in so many ways that it would take too long";
        report.push(
            analysis.with_effort_help(Diagnostic::new(Code::CheckIncomplete, message).note(note)),
        );
    }
}

/// Ranks in words: "rank 3", "ranks 1 and 4", "ranks 0 to 7", "12 ranks (the first is rank 1)".
fn ranks_of(ranks: &[u32]) -> String {
    match *ranks {
        [one] => format!("rank {one}"),
        [first, second] => format!("ranks {first} and {second}"),
        [first, .., last] if (last - first) as usize == ranks.len() - 1 => {
            format!("ranks {first} to {last}")
        }
        _ => format!("{} ranks (the first is rank {})", ranks.len(), ranks.first().unwrap_or(&0)),
    }
}

/// The parts of a finding about a fault: the ranks that have it, and the dependency that removes
/// it.
struct Description<'a> {
    analysis: &'a Analysis<'a>,
    body: BodyId,
    ranks: &'a [u32],
    wait: Option<Wait>,
}

impl Description<'_> {
    fn finding(&self, code: Code, fault: Fault, bytes: &Bytes) -> Diagnostic {
        let Analysis { whole, trace, places, .. } = self.analysis;
        let ranks = ranks_of(self.ranks);
        let what = in_words(bytes.space, &bytes.range);
        let is_one = bytes.range.end - bytes.range.start == 1;
        let (them, are) = if is_one { ("it", "is") } else { ("them", "are") };
        let new = |message| Diagnostic::new(code, message);
        match fault {
            Fault::Race(one, other) if one == other => {
                let message = format!("{ranks}: {} stores {what} twice", self.name(one));
                let found =
                    self.label(new(message), one, "the pieces of its buffer overlap".to_owned());
                found
                    .note(
                        "which of the message's bytes stay depends on the order in which they come",
                    )
                    .help("receive into pieces that lie apart")
            }
            Fault::Race(first, second) => {
                let (a, b) = (self.verb(first, bytes), self.verb(second, bytes));
                let message = format!(
                    "{ranks}: {} {a} {what} and {} {b} {them}, in no order",
                    self.name(first),
                    self.name(second)
                );
                let found = self.label(new(message), first, format!("{a} {what}"));
                let found = self.label(
                    found,
                    second,
                    format!("{b} {them}, and neither waits for the other"),
                );
                found
                    .note("which comes first depends on timing, and with it what the bytes are")
                    .help(self.help())
            }
            Fault::Uninitialised(reader) => {
                let message =
                    format!("{ranks}: {} reads {what}, which nothing wrote", self.name(reader));
                let mut found = self.label(new(message), reader, format!("reads {what}"));
                if let Some(writer) = self.writer(bytes, reader) {
                    found = self.label(found, writer, format!("writes {them}, but later"));
                }
                found
                    .note("scratch memory has no content at the start of a schedule")
                    .help("let it wait for an action that writes them, or use memory, which starts as 0 or as `init` says")
            }
            Fault::Lost(recv, writer) => {
                let message = format!(
                    "{ranks}: {what} of {} {are} overwritten by {} before anything reads {them}",
                    self.name(recv),
                    self.name(writer)
                );
                let found = self.label(new(message), writer, format!("overwrites {what}"));
                let mut found = self.label(found, recv, "received here".to_owned());
                if let Some(send) = trace.partner[self.vertex(recv).index()].some() {
                    found = places.label(
                        found,
                        send,
                        format!("rank {} sends {them} here", whole.rank(send)),
                    );
                }
                found
                    .note("a message whose content does not matter needs no address: `8b` in place of `ADDR,8`")
                    .help("let what reads them wait for the receive, and what overwrites them for that; or receive into other bytes")
            }
        }
    }

    fn vertex(&self, id: ActionId) -> Vertex {
        self.analysis.whole.vertex(self.ranks[0], id)
    }

    fn name(&self, id: ActionId) -> String {
        self.analysis.places.action(self.vertex(id))
    }

    fn label(&self, found: Diagnostic, id: ActionId, text: String) -> Diagnostic {
        self.analysis.places.label(found, self.vertex(id), text)
    }

    /// Returns the first action of the text, other than `reader`, that writes some of `bytes`.
    fn writer(&self, bytes: &Bytes, reader: ActionId) -> Option<ActionId> {
        let body = &self.analysis.whole.program.bodies[self.body.index()];
        body.ids().find(|&id| id != reader && bytes.are_written_by(body, id))
    }

    /// The verb for the use that an action makes of `bytes`.
    fn verb(&self, id: ActionId, bytes: &Bytes) -> &'static str {
        let body = &self.analysis.whole.program.bodies[self.body.index()];
        let (mut reads, mut writes) = (false, false);
        body.visit_accesses(body.action(id), |piece, access| {
            if bytes.touches(piece) {
                reads |= access.reads();
                writes |= access.writes();
            }
        });
        match (reads, writes) {
            (true, true) => "updates",
            (false, true) => "writes",
            _ => "reads",
        }
    }

    fn help(&self) -> String {
        let labels = &self.analysis.whole.program.bodies[self.body.index()].debug.labels;
        let label = |id| labels.get(id);
        match self.wait.map(|wait| (wait, label(wait.waiter).zip(label(wait.prerequisite)))) {
            Some((wait, Some((waiter, prerequisite)))) => {
                let statement =
                    self.analysis.places.dependency(self.vertex(wait.waiter), waiter, prerequisite);
                format!("let one wait for the other: `{statement}`")
            }
            Some((wait, None)) => format!(
                "let {} wait for {}, or use other bytes",
                self.name(wait.waiter),
                self.name(wait.prerequisite)
            ),
            None => "let one wait for the other, or use other bytes".to_owned(),
        }
    }
}
