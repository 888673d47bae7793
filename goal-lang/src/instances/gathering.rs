//! Puts statements together, and finds those that contradict each other.
//!
//! A text may state a few members of very many large collectives. So the time for a collective
//! grows with its statements, not with its members.

use super::findings::{Findings, LISTED_MAX};
use super::instance::{CollectiveInstance, CollectiveSize, Instances, StatedMessage};
use super::stated::{Communicators, Key, Stated, collect};
use crate::collective::CollectiveKind;
use crate::diag::Report;
use crate::groups::Groups;
use crate::program::{CollectiveForm, CollectiveStatement, NcclKind, Program};
use crate::source::SourceMap;

/// Puts together the collectives of a program. Reports members that state a collective never or
/// twice, or with another kind, size or root than the others.
///
/// `groups` has the members of groups. The result is whole only if there is no new error.
pub fn instances(
    program: &Program,
    sources: &SourceMap,
    groups: Option<&Groups>,
    report: &mut Report,
) -> Instances {
    if !program.has_collectives() {
        return Instances::default();
    }
    let mut found = Report::default();
    let mut gathering = Gathering {
        program,
        groups,
        findings: Findings { program, sources, report: &mut found },
        found: Instances::default(),
        sorted: None,
    };
    match collect(program) {
        Ok(all) => gathering.all(&all),
        Err(count) => gathering.findings.too_many(count),
    }
    let instances = gathering.found;
    found.sort();
    report.append(found);
    instances
}

struct Gathering<'a> {
    program: &'a Program,
    groups: Option<&'a Groups>,
    findings: Findings<'a>,
    found: Instances,
    /// The last group that was looked at, with its ranks ascending.
    sorted: Option<(u32, Vec<u32>)>,
}

impl Gathering<'_> {
    /// Adds the collectives of all statements, which are sorted.
    fn all(&mut self, all: &[Stated]) {
        let communicators = Communicators::new(self.program);
        for stated in all.chunk_by(|a, b| a.key == b.key) {
            match stated[0].key {
                Key::Group { group, .. } => self.of_group(stated, group),
                Key::Nccl { comm, kind, .. } => {
                    self.of_nccl(stated, communicators.members(comm), kind);
                }
                Key::Ends { comm, .. } => self.ends(stated, communicators.members(comm)),
            }
        }
    }

    /// Adds the collective that members of a group state. `all` is sorted by rank.
    fn of_group(&mut self, all: &[Stated], group: u32) {
        let Some(groups) = self.groups else { return self.findings.no_list(all[0]) };
        let Some(members) = groups.members(group) else {
            return self.findings.no_group(all[0], group, groups.len());
        };
        let Some(sorted) = self.sorted(groups, group, members) else { return };
        let is_outside = |stated: &&Stated| sorted.binary_search(&stated.rank).is_err();
        if let Some(&outsider) = all.iter().find(is_outside) {
            return self.findings.outsider(outsider, groups, group);
        }
        let wanted = members.iter().map(|&rank| (rank, 0));
        let Some(ordered) = self.one_of_each(all, wanted) else { return };
        let CollectiveForm::Group { kind, root, .. } = self.stated(ordered[0]).form else { return };
        let root = match (kind.has_root(), root) {
            (true, None) => return self.findings.without_root(ordered[0], kind),
            (false, Some(_)) => return self.findings.with_root(ordered[0], kind),
            (false, None) => 0,
            (true, Some(root)) => match members.iter().position(|&member| member == root) {
                Some(at) => at as u32,
                None => return self.findings.root_elsewhere(ordered[0], groups, group, root),
            },
        };
        let size = self.stated(ordered[0]).size;
        let has_blocks = matches!(kind, CollectiveKind::Allgather | CollectiveKind::ReduceScatter);
        let size =
            if has_blocks { CollectiveSize::Total(size) } else { CollectiveSize::Block(size) };
        self.add(kind, size, root, &ordered);
    }

    /// Returns the ranks of a group, ascending. They are sorted once for all collectives of the
    /// group, which come one after another. Reports a rank that the program does not have, once.
    fn sorted(&mut self, groups: &Groups, group: u32, members: &[u32]) -> Option<&[u32]> {
        let num_ranks = self.program.num_ranks();
        if self.sorted.as_ref().is_none_or(|&(last, _)| last != group) {
            if let Some(&rank) = members.iter().find(|&&rank| rank >= num_ranks) {
                self.findings.no_such_rank(groups, group, rank);
            }
            let mut sorted = members.to_vec();
            sorted.sort_unstable();
            self.sorted = Some((group, sorted));
        }
        let (_, sorted) = self.sorted.as_ref()?;
        Some(&sorted[..]).filter(|sorted| sorted.last().is_some_and(|&last| last < num_ranks))
    }

    /// Adds the collective that members of a communicator state.
    fn of_nccl(&mut self, all: &[Stated], members: &[(u32, u32)], kind: NcclKind) {
        let (Some(ordered), Some(kind)) =
            (self.one_of_each(all, members.iter().copied()), kind.collective())
        else {
            return;
        };
        let size = self.stated(ordered[0]).size;
        self.add(kind, CollectiveSize::Block(size), 0, &ordered);
    }

    fn add(&mut self, kind: CollectiveKind, size: CollectiveSize, root: u32, ordered: &[Stated]) {
        let members = ordered.iter().map(|stated| stated.member()).collect();
        self.found.collectives.push(CollectiveInstance { kind, size, root, members });
    }

    /// Returns the statements in the order of the members, each a rank and a GPU. Reports members
    /// with no statement or several, and statements that differ.
    /// All statements must be members'.
    fn one_of_each(
        &mut self,
        all: &[Stated],
        members: impl ExactSizeIterator<Item = (u32, u32)>,
    ) -> Option<Vec<Stated>> {
        if let Some(twice) = all.windows(2).find(|pair| pair[0].who() == pair[1].who()) {
            self.findings.twice(twice[0], twice[1]);
            return None;
        }
        let find = |who: (u32, u32)| all.binary_search_by_key(&who, |stated| stated.who()).ok();
        if let Some(count @ 1..) = members.len().checked_sub(all.len()) {
            let missing = members.filter(|&who| find(who).is_none()).take(LISTED_MAX);
            self.findings.missing(all[0], &missing.collect::<Vec<_>>(), count);
            return None;
        }
        let ordered: Vec<Stated> = members.filter_map(find).map(|at| all[at]).collect();
        let first = self.stated(ordered[0]);
        let differs = |stated: &&Stated| {
            let other = self.stated(**stated);
            (other.size, self.kind_and_root(other)) != (first.size, self.kind_and_root(first))
        };
        if let Some(&other) = ordered.iter().find(differs) {
            self.findings.differing(ordered[0], other);
            return None;
        }
        Some(ordered)
    }

    fn kind_and_root(&self, stated: &CollectiveStatement) -> Option<(CollectiveKind, Option<u32>)> {
        match stated.form {
            CollectiveForm::Group { kind, root, .. } => Some((kind, root)),
            CollectiveForm::Nccl { .. } => None,
        }
    }

    fn stated(&self, stated: Stated) -> &CollectiveStatement {
        stated.member().stated(self.program)
    }

    /// Adds the messages of a communicator, whose ends `stated` has.
    fn ends(&mut self, all: &[Stated], members: &[(u32, u32)]) {
        let [first, second] = *members else {
            self.found.ends.extend(all.iter().map(|stated| stated.member()));
            return;
        };
        for sender in [first, second] {
            let mut ends: Vec<(bool, u32, Stated)> = Vec::new();
            for &end in all {
                let CollectiveForm::Nccl { kind, seq, .. } = self.stated(end).form else { return };
                let sends = kind == NcclKind::Send;
                if (end.who() == sender) == sends {
                    ends.push((sends, seq, end));
                }
            }
            ends.sort_by_key(|&(sends, seq, end)| (seq, !sends, end));
            for pair in ends.chunk_by(|a, b| a.1 == b.1) {
                self.message(pair);
            }
        }
    }

    /// Adds the message that has these ends.
    fn message(&mut self, ends: &[(bool, u32, Stated)]) {
        match *ends {
            [(true, _, sender), (false, _, receiver)] => {
                let (size, other) = (self.stated(sender).size, self.stated(receiver).size);
                if size != other {
                    return self.findings.differing(sender, receiver);
                }
                let (sender, receiver) = (sender.member(), receiver.member());
                self.found.messages.push(StatedMessage { size, sender, receiver });
            }
            [(a, _, first), (b, _, second), ..] if a == b => self.findings.twice(first, second),
            [_, (_, _, first), (_, _, second), ..] => self.findings.twice(first, second),
            [(_, _, end)] => self.findings.one_end(end),
            _ => {}
        }
    }
}
