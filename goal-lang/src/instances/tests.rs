use super::*;
use crate::collective::CollectiveKind;
use crate::diag::Report;
use crate::groups::Groups;
use crate::parse::{ParseOptions, parse};
use crate::source::SourceMap;
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

/// Each statement names a collective of its own, and each collective has all members.
#[test]
fn a_few_members_of_many_large_collectives_are_reported() {
    let messages = |line: &dyn Fn(u32) -> String| {
        let lines: String = (0..50_000).map(line).collect();
        let list: String = (0..200_000).map(|rank| format!("{rank} ")).collect();
        let text = format!("num_ranks 200000 rank 0 {{ {lines} }} rank * {{}}");
        found(&text, &list).1
    };
    let of_group = messages(&|at| format!("coll allreduce 8b 0 {at} -1\n"));
    assert_eq!(
        of_group[7],
        "rank 1, rank 2, rank 3, rank 4 and 199995 more have no statement of instance 7 of group 0"
    );
    let of_communicator =
        messages(&|at| format!("AllReduce 8 bytes comm 0 gpu {at} stream 0 seq {at} end\n"));
    let listed = "rank 0 (gpu 0), rank 0 (gpu 1), rank 0 (gpu 2), rank 0 (gpu 3) and 49995 more";
    assert_eq!(
        of_communicator[7],
        format!("{listed} have no statement of AllReduce 7 of communicator 0")
    );
}

#[test]
fn a_group_with_a_rank_too_many_is_reported_once() {
    let text = "num_ranks 2 rank * { coll reduce 8b 0 0 0 coll reduce 8b 0 1 0 }";
    let (_, messages) = found(text, "0 1 2");
    assert_eq!(messages, ["group 0 has rank 2, but the program has 2 ranks"]);
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
