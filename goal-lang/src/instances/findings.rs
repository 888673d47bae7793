//! The findings about statements of collectives that contradict each other.

use super::stated::Stated;
use crate::collective::CollectiveKind;
use crate::diag::{Code, Diagnostic, Report};
use crate::groups::Groups;
use crate::limits::BLOCK_ENTRIES_MAX;
use crate::program::{CollectiveForm, CollectiveStatement, NcclKind, Program};
use crate::source::{SourceMap, Span};

/// Most members that a finding lists.
pub(super) const LISTED_MAX: usize = 4;

/// A note about every contradiction.
const NOTE: &str =
    "each member of a collective states it once, with the same kind, size and root as the others";

pub(super) struct Findings<'a> {
    pub(super) program: &'a Program,
    pub(super) sources: &'a SourceMap,
    pub(super) report: &'a mut Report,
}

impl Findings<'_> {
    /// Reports statements of groups without a list of groups.
    pub(super) fn no_list(&mut self, first: Stated) {
        let span = self.place(first);
        self.report.add(Code::CollectiveGroups, || {
            let message =
                "there is no list of groups, so the members of this collective are unknown";
            label(Diagnostic::new(Code::CollectiveGroups, message), span, "names a group")
                .note("a list of groups has one group a line: ranks with blanks between them")
                .help("write the list into a file beside the program, with the extension `.groups`")
        });
    }

    pub(super) fn no_group(&mut self, first: Stated, group: u32, groups: usize) {
        let span = self.place(first);
        self.report.add(Code::CollectiveGroups, || {
            let message = format!("there is no group {group} among {groups}");
            label(Diagnostic::new(Code::CollectiveGroups, message), span, "names the group")
                .note("groups count from 0, one a line; empty lines and comments don't count")
                .help("add the group to the list of groups, or correct its number")
        });
    }

    pub(super) fn no_such_rank(&mut self, groups: &Groups, group: u32, rank: u32) {
        let (span, ranks) = (groups.place(group), self.program.num_ranks());
        self.report.add(Code::CollectiveGroups, || {
            let message =
                format!("group {group} has rank {rank}, but the program has {ranks} ranks");
            label(Diagnostic::new(Code::CollectiveGroups, message), span, "the group")
                .note("the ranks of a group are those of the whole program, from 0 on")
                .help("correct the list of groups, or enlarge the program with `num_ranks`")
        });
    }

    pub(super) fn outsider(&mut self, stated: Stated, groups: &Groups, group: u32) {
        let message = format!("rank {} is not in group {group}", stated.rank);
        self.not_in_group(stated, message, groups, group);
    }

    pub(super) fn root_elsewhere(
        &mut self,
        stated: Stated,
        groups: &Groups,
        group: u32,
        root: u32,
    ) {
        self.not_in_group(
            stated,
            format!("the root {root} is not in group {group}"),
            groups,
            group,
        );
    }

    fn not_in_group(&mut self, stated: Stated, message: String, groups: &Groups, group: u32) {
        let (span, line) = (self.place(stated), groups.place(group));
        self.report.add(Code::CollectiveMismatch, || {
            let finding = Diagnostic::new(Code::CollectiveMismatch, message);
            label(label(finding, span, "stated here"), line, "the group")
                .note("statements and roots name ranks of the whole program, and so do groups")
                .help("correct the list of groups, or the statement")
        });
    }

    pub(super) fn twice(&mut self, first: Stated, second: Stated) {
        let (a, b) = (self.place(first), self.place(second));
        let message = format!("{} states {} twice", self.who(first), self.name(first));
        let help = "give the second one another number, or leave it out";
        self.mismatch(message, [(b, "stated again here"), (a, "first stated here")], help);
    }

    /// Reports `count` members without a statement. `listed` are the first of them.
    pub(super) fn missing(&mut self, first: Stated, listed: &[(u32, u32)], count: usize) {
        let span = self.place(first);
        let is_nccl = matches!(self.stated(first).form, CollectiveForm::Nccl { .. });
        let listed: Vec<String> = listed.iter().map(|&who| name_of(who, is_nccl)).collect();
        let who = match count - listed.len() {
            0 => listed.join(", "),
            more => format!("{} and {more} more", listed.join(", ")),
        };
        let have = if count == 1 { "has" } else { "have" };
        let message = format!("{who} {have} no statement of {}", self.name(first));
        let by = format!("{} states it", self.who(first));
        let help = "add the statements that are missing, or leave the others out";
        self.mismatch(message, [(span, by.as_str()), (None, "")], help);
    }

    pub(super) fn differing(&mut self, first: Stated, second: Stated) {
        let (a, b) = (self.place(first), self.place(second));
        let (one, other) = (self.who(first), self.who(second));
        let message = format!("{one} and {other} state {} differently", self.name(first));
        let places = [(b, "differs in kind, size or root"), (a, "first stated here")];
        self.mismatch(message, places, "make them equal, or give one of them another number");
    }

    pub(super) fn one_end(&mut self, end: Stated) {
        let span = self.place(end);
        let message = format!("{} has the only end of {}", self.who(end), self.name(end));
        let places = [(span, "the other member has no end"), (None, "")];
        self.mismatch(message, places, "add the other end, or leave this one out");
    }

    pub(super) fn without_root(&mut self, stated: Stated, kind: CollectiveKind) {
        let message = format!("{} {kind} needs a root", kind.article());
        let span = self.place(stated);
        let help = "write the rank of the root in place of -1";
        self.mismatch(message, [(span, "-1 is no rank"), (None, "")], help);
    }

    pub(super) fn with_root(&mut self, stated: Stated, kind: CollectiveKind) {
        let message = format!("{} {kind} has no root", kind.article());
        let span = self.place(stated);
        let places = [(span, "names a root"), (None, "")];
        self.mismatch(message, places, "write -1 in place of the root");
    }

    pub(super) fn too_many(&mut self, count: u64) {
        self.report.add(Code::LimitExceeded, || {
            let message = format!(
                "{count} collective statements of all ranks are more than the limit of {BLOCK_ENTRIES_MAX}"
            );
            Diagnostic::new(Code::LimitExceeded, message)
                .note("limits keep a mistake from taking all of the machine's memory")
                .help("use fewer ranks, or cut the program into pieces")
        });
    }

    fn mismatch(&mut self, message: String, places: [(Option<Span>, &str); 2], help: &str) {
        self.report.add(Code::CollectiveMismatch, || {
            let finding = Diagnostic::new(Code::CollectiveMismatch, message);
            let finding = places
                .into_iter()
                .fold(finding, |finding, (span, text)| label(finding, span, text));
            finding.note(NOTE).help(help)
        });
    }

    fn stated(&self, stated: Stated) -> &CollectiveStatement {
        stated.member().stated(self.program)
    }

    /// Returns the place of a statement, if it is known.
    fn place(&self, stated: Stated) -> Option<Span> {
        let action = self.stated(stated).action;
        let places = &self.program.body_of(stated.rank).debug.actions;
        self.sources.statement(*places.get(action.index())?)
    }

    fn who(&self, stated: Stated) -> String {
        name_of(stated.who(), matches!(self.stated(stated).form, CollectiveForm::Nccl { .. }))
    }

    /// Returns the name of the collective that a statement is part of.
    fn name(&self, stated: Stated) -> String {
        match self.stated(stated).form {
            CollectiveForm::Group { group, instance, .. } => {
                format!("instance {instance} of group {group}")
            }
            CollectiveForm::Nccl { kind: NcclKind::Send | NcclKind::Recv, comm, seq, .. } => {
                format!("message {seq} of communicator {comm}")
            }
            CollectiveForm::Nccl { kind, comm, seq, .. } => {
                format!("{} {seq} of communicator {comm}", kind.name())
            }
        }
    }
}

fn name_of((rank, gpu): (u32, u32), is_nccl: bool) -> String {
    if is_nccl { format!("rank {rank} (gpu {gpu})") } else { format!("rank {rank}") }
}

fn label(finding: Diagnostic, span: Option<Span>, text: &str) -> Diagnostic {
    match span {
        Some(span) => finding.label(span, text),
        None => finding,
    }
}
