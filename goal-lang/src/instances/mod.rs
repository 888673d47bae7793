//! The collectives of a program, put together from the statements of their members.

mod findings;
mod stated;

use crate::collective::CollectiveKind;
use crate::diag::Report;
use crate::groups::Groups;
use crate::program::{CollectiveForm, CollectiveStatement, NcclKind, Program};
use crate::source::SourceMap;
use findings::Findings;
use stated::{Communicators, Key, Stated};

/// The statement by which a rank takes part in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The rank.
    pub rank: u32,
    /// The index of the statement in the body's [`collectives`](crate::Body::collectives).
    pub statement: u32,
}

impl Member {
    /// Returns the statement of the member.
    ///
    /// # Panics
    /// If it is a member of another program.
    pub fn stated(self, program: &Program) -> &CollectiveStatement {
        &program.body_of(self.rank).collectives[self.statement as usize]
    }
}

/// The bytes of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectiveSize {
    /// The bytes of a block: a member's input, or the part of this input for one member.
    Block(u64),
    /// The bytes of the blocks of all members together.
    Total(u64),
}

/// A collective with the statements of all members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectiveInstance {
    /// The collective.
    pub kind: CollectiveKind,
    /// The bytes.
    pub size: CollectiveSize,
    /// The index of the root among the members; 0 if there is no root, or if the statements do not
    /// name it.
    pub root: u32,
    /// The members in their order. A rank may be there several times, with a GPU for each.
    pub members: Vec<Member>,
}

/// A message whose ends are statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedMessage {
    /// Bytes.
    pub size: u64,
    /// The end that sends.
    pub sender: Member,
    /// The end that receives.
    pub receiver: Member,
}

/// All collectives that the statements of a program name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instances {
    /// The collectives.
    pub collectives: Vec<CollectiveInstance>,
    /// The messages in communicators of two members.
    pub messages: Vec<StatedMessage>,
    /// Ends of messages in communicators of more or fewer members. Their statements don't tell the
    /// other end.
    pub ends: Vec<Member>,
}

/// Puts together the collectives of a program, and reports what its statements contradict: a member
/// that states a collective never or twice, or with another kind, size or root than the others.
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
    };
    if let Some(all) = gathering.findings.collect() {
        let communicators = Communicators::new(program);
        for stated in all.chunk_by(|a, b| a.key == b.key) {
            match stated[0].key {
                Key::Group { group, .. } => gathering.of_group(stated, group),
                Key::Nccl { comm, kind, .. } => {
                    gathering.of_nccl(stated, communicators.members(comm), kind);
                }
                Key::Ends { comm, .. } => gathering.ends(stated, communicators.members(comm)),
            }
        }
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
}

impl Gathering<'_> {
    /// Adds the collective that members of a group state. `all` is sorted by rank.
    fn of_group(&mut self, all: &[Stated], group: u32) {
        let Some(groups) = self.groups else { return self.findings.no_list(all[0]) };
        let Some(members) = groups.members(group) else {
            return self.findings.no_group(all[0], group, groups.len());
        };
        if let Some(&rank) = members.iter().find(|&&rank| rank >= self.program.num_ranks()) {
            return self.findings.no_such_rank(groups, group, rank);
        }
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let is_stranger = |stated: &&Stated| sorted.binary_search(&stated.rank).is_err();
        if let Some(stranger) = all.iter().find(is_stranger) {
            return self.findings.stranger(*stranger, groups, group);
        }
        let wanted: Vec<(u32, u32)> = members.iter().map(|&rank| (rank, 0)).collect();
        let Some(ordered) = self.one_of_each(all, &wanted) else { return };
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

    /// Adds the collective that members of a communicator state.
    fn of_nccl(&mut self, all: &[Stated], members: &[(u32, u32)], kind: NcclKind) {
        let (Some(ordered), Some(kind)) = (self.one_of_each(all, members), kind.collective())
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
    fn one_of_each(&mut self, all: &[Stated], members: &[(u32, u32)]) -> Option<Vec<Stated>> {
        if let Some(twice) = all.windows(2).find(|pair| pair[0].who() == pair[1].who()) {
            self.findings.twice(twice[0], twice[1]);
            return None;
        }
        let find = |who: &(u32, u32)| all.binary_search_by_key(who, |stated| stated.who()).ok();
        let ordered: Vec<Stated> = members.iter().filter_map(find).map(|at| all[at]).collect();
        if ordered.len() < members.len() {
            let missing: Vec<(u32, u32)> =
                members.iter().filter(|who| find(who).is_none()).copied().collect();
            self.findings.missing(all[0], &missing);
            return None;
        }
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

    /// Adds the message of which these are the ends.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{ParseOptions, parse};
    use std::sync::Arc;

    fn found(text: &str, groups: &str) -> (Instances, Vec<String>) {
        let mut sources = SourceMap::default();
        sources.add("x.goal", Arc::new(text.as_bytes().to_vec()));
        let options = ParseOptions { collectives: true, ..ParseOptions::default() };
        let parsed = parse(&sources, &options);
        assert!(parsed.report.is_empty(), "{:#?}", parsed.report);
        let base = sources.add("x.groups", Arc::new(groups.as_bytes().to_vec()));
        let groups = Groups::parse(groups.as_bytes(), base).expect("groups");
        let mut report = Report::default();
        let program = parsed.program.expect("a program");
        let found = instances(&program, &sources, Some(&groups), &mut report);
        (found, report.diagnostics.into_iter().map(|found| found.message).collect())
    }

    #[test]
    fn members_have_the_order_of_their_group() {
        let text = "num_ranks 3 rank * { coll bcast 8b 0 5 1 }";
        let (found, messages) = found(text, "2 1 0");
        assert_eq!(messages, [""; 0]);
        let [bcast] = &found.collectives[..] else { panic!("{found:#?}") };
        assert_eq!((bcast.kind, bcast.root), (CollectiveKind::Bcast, 1));
        assert_eq!(bcast.size, CollectiveSize::Block(8));
        let ranks: Vec<u32> = bcast.members.iter().map(|member| member.rank).collect();
        assert_eq!(ranks, [2, 1, 0]);
    }

    #[test]
    fn a_group_states_all_blocks_together() {
        let text = "num_ranks 2 rank * { coll allgather 10b 0 0 -1 coll allreduce 10b 0 1 -1 }";
        let (found, _) = found(text, "0 1");
        let sizes: Vec<CollectiveSize> = found.collectives.iter().map(|found| found.size).collect();
        assert_eq!(sizes, [CollectiveSize::Total(10), CollectiveSize::Block(10)]);
    }

    #[test]
    fn gpus_of_one_rank_are_members() {
        let line = |gpu| format!("AllReduce 64 bytes comm 3 gpu {gpu} stream 0 seq 0 end\n");
        let text = format!("rank 0 {{ {} {} }} rank 1 {{ {} }}", line(1), line(0), line(2));
        let (found, messages) = found(&text, "");
        assert_eq!(messages, [""; 0]);
        let members = &found.collectives[0].members;
        let member = |rank, statement| Member { rank, statement };
        assert_eq!(*members, [member(0, 1), member(0, 0), member(1, 0)]);
    }

    #[test]
    fn two_members_exchange_messages_by_their_numbers() {
        let end = |kind, gpu, seq| {
            format!("{kind} {} bytes comm 0 gpu {gpu} stream 0 seq {seq} end\n", 8 + seq)
        };
        let first = [end("Send", 0, 1), end("Send", 0, 0), end("Recv", 0, 0)].concat();
        let second = [end("Recv", 1, 0), end("Recv", 1, 1), end("Send", 1, 0)].concat();
        let (found, messages) = found(&format!("rank 0 {{ {first} }} rank 1 {{ {second} }}"), "");
        assert_eq!(messages, [""; 0]);
        let ends = |at: usize| {
            let StatedMessage { size, sender, receiver } = found.messages[at];
            (size, sender.rank, sender.statement, receiver.statement)
        };
        assert_eq!([ends(0), ends(1), ends(2)], [(8, 0, 1, 0), (9, 0, 0, 1), (8, 1, 2, 2)]);
    }

    #[test]
    fn contradictions_are_reported() {
        let refused = |text: &str, groups: &str| {
            let (_, messages) = found(text, groups);
            messages.join("; ")
        };
        let cases = [
            ("num_ranks 2 rank 0 { coll reduce 8b 0 0 0 } rank 1 {}", "0 1"),
            ("num_ranks 2 rank * { coll reduce 8b 1 0 0 }", "0 1"),
            ("num_ranks 2 rank * { coll reduce 8b 0 0 0 coll reduce 8b 0 0 0 }", "0 1"),
            ("num_ranks 2 rank * { coll reduce 8b 0 0 -1 }", "0 1"),
            ("num_ranks 2 rank * { coll allreduce 8b 0 0 1 }", "0 1"),
            ("num_ranks 3 rank * { coll reduce 8b 0 0 0 }", "0 1"),
            ("num_ranks 3 rank 0, 1 { coll reduce 8b 0 0 2 } rank 2 {}", "0 1"),
            ("num_ranks 2 rank * { coll reduce 8b 0 0 0 }", "0 1 2"),
            ("rank 0 { coll reduce 8b 0 0 0 } rank 1 { coll reduce 9b 0 0 0 }", "0 1"),
            ("rank 0 { coll reduce 8b 0 0 0 } rank 1 { coll bcast 8b 0 0 0 }", "0 1"),
        ];
        let messages = cases.map(|(text, groups)| refused(text, groups));
        assert_eq!(
            messages,
            [
                "rank 1 has no statement of instance 0 of group 0",
                "there is no group 1 among 1",
                "rank 0 states instance 0 of group 0 twice",
                "a reduce needs a root",
                "an allreduce has no root",
                "rank 2 is not in group 0",
                "the root 2 is not in group 0",
                "group 0 has rank 2, but the program has 2 ranks",
                "rank 0 and rank 1 state instance 0 of group 0 differently",
                "rank 0 and rank 1 state instance 0 of group 0 differently",
            ]
        );
    }

    #[test]
    fn ends_without_a_partner_are_reported() {
        let text = "rank 0 { Send 8 bytes comm 0 gpu 0 stream 0 seq 0 end }
            rank 1 { Recv 9 bytes comm 0 gpu 1 stream 0 seq 0 end
            Recv 8 bytes comm 0 gpu 1 stream 0 seq 1 end }";
        let (_, messages) = found(text, "");
        assert_eq!(
            messages,
            [
                "rank 0 (gpu 0) and rank 1 (gpu 1) state message 0 of communicator 0 differently",
                "rank 1 (gpu 1) has the only end of message 1 of communicator 0",
            ]
        );
    }
}
