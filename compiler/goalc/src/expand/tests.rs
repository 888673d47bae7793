use super::{Algorithms, ExpandError, expand, prove};
use goal_check::{Options, check};
use goal_lang::diag::Report;
use goal_lang::{
    Action, ActionId, Groups, Instances, ParseOptions, Payload, Program, SourceMap, Style,
    instances, parse, print,
};
use std::sync::Arc;

fn read(text: &str, groups: &str) -> (Program, Instances) {
    let mut sources = SourceMap::default();
    sources.add("x.goal", Arc::new(text.as_bytes().to_vec()));
    let options = ParseOptions { collectives: true, ..ParseOptions::default() };
    let parsed = parse(&sources, &options);
    let program = parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.report));
    let groups = Groups::parse(groups.as_bytes(), 1 << 32).expect("groups");
    let mut report = Report::default();
    let found = instances(&program, &sources, Some(&groups), &mut report);
    assert!(report.is_empty(), "{report:#?}");
    (program, found)
}

fn expanded(text: &str, groups: &str, algorithms: &str) -> Program {
    let (mut program, found) = read(text, groups);
    let algorithms: Algorithms = algorithms.parse().expect("algorithms");
    let all = expand(&mut program, &found, &algorithms).unwrap_or_else(|error| panic!("{error}"));
    assert!(!program.has_collectives());
    let proofs = prove(&all.programs, &Options::default());
    assert!(proofs.report.is_empty(), "{:#?}", proofs.report);
    assert_eq!(proofs.proved, found.collectives.len() as u64);
    let found = check(&program, None, &Options { eager_limit: 0, ..Options::default() });
    assert!(found.is_empty(), "{found:#?}");
    program
}

fn printed(program: &Program) -> String {
    let mut text = Vec::new();
    print(program, Style::Paper2009, &mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

fn refused(text: &str, groups: &str, algorithms: &str) -> String {
    let (mut program, found) = read(text, groups);
    let before = printed(&program);
    let algorithms: Algorithms = algorithms.parse().expect("algorithms");
    let error = expand(&mut program, &found, &algorithms).expect_err("it is refused");
    assert_eq!(printed(&program), before);
    error.to_string()
}

/// Returns the bytes that a rank sends to each other rank.
fn sent(program: &Program, rank: u32) -> Vec<(u32, u64)> {
    let sends = program.body_of(rank).actions.iter().filter_map(|action| match *action {
        Action::Send { payload: Payload::Pattern { size }, to, .. } => Some((to, size)),
        _ => None,
    });
    sends.collect()
}

#[test]
fn a_statement_keeps_its_place_between_others() {
    let text = "num_ranks 2 rank * { a: calc 5 c: coll allreduce 8b 0 0 -1 cpu 2 nic 1 z: calc 7
        c requires a z requires c }";
    let program = expanded(text, "0 1", "recursive-doubling");
    assert_eq!(
        printed(&program),
        "rank #0 {
  a: calc 5;
  l2: nop;
  requ l2 -> a;
  l3: send 8b to 1 cpu 2 nic 1;
  requ l3 -> l2;
  l4: recv 8b from 1 cpu 2 nic 1;
  requ l4 -> l2;
  l5: nop;
  requ l5 -> l3;
  requ l5 -> l4;
  c: nop;
  requ c -> l5;
  z: calc 7;
  requ z -> c;
}

rank #1 {
  a: calc 5;
  l2: nop;
  requ l2 -> a;
  l3: send 8b to 0 cpu 2 nic 1;
  requ l3 -> l2;
  l4: recv 8b from 0 cpu 2 nic 1;
  requ l4 -> l2;
  l5: nop;
  requ l5 -> l3;
  requ l5 -> l4;
  c: nop;
  requ c -> l5;
  z: calc 7;
  requ z -> c;
}
"
    );
}

#[test]
fn whatever_waits_for_a_start_waits_for_the_first_action() {
    let text = "num_ranks 2 rank * { c: coll allreduce 8b 0 0 -1 z: calc 7 z irequires c }";
    let program = expanded(text, "0 1", "recursive-doubling");
    let body = program.body_of(0);
    let calc = ActionId::new(body.len() - 1);
    assert_eq!(body.irequires.row(ActionId::new(0)), [calc]);
    assert_eq!(body.irequires.len(), 1);
}

#[test]
fn sizes_are_those_of_the_spelling() {
    let group = |kind: &str, size: u64| {
        let text = format!("num_ranks 3 rank * {{ coll {kind} {size}b 0 0 -1 }}");
        sent(&expanded(&text, "0 1 2", "ring"), 0)
    };
    assert_eq!(group("allgather", 30), [(1, 10), (1, 10)]);
    assert_eq!(group("reduce_scatter", 30), [(1, 10), (1, 10)]);
    let total: u64 = group("allreduce", 30).iter().map(|message| message.1).sum();
    assert_eq!(total, 40);
    let nccl = |kind: &str| {
        let line = |gpu| format!("{kind} 30 bytes comm 0 gpu {gpu} stream 0 seq 0 end");
        let rank = |rank: u32| format!("rank {rank} {{ {} }}", line(rank));
        sent(&expanded(&[rank(0), rank(1), rank(2)].concat(), "", "ring"), 0)
    };
    assert_eq!(nccl("AllGather"), [(1, 30), (1, 30)]);
    assert_eq!(nccl("ReduceScatter"), [(1, 30), (1, 30)]);
}

#[test]
fn bytes_that_don_t_divide_are_spread() {
    let text = "num_ranks 3 rank * { coll allgather 8b 0 0 -1 }";
    let program = expanded(text, "0 1 2", "ring");
    let of = |rank| sent(&program, rank);
    assert_eq!([of(0), of(1), of(2)], [[(1, 3), (1, 2)], [(2, 3), (2, 3)], [(0, 2), (0, 3)]]);
}

#[test]
fn collectives_have_tags_of_their_own() {
    let text = "num_ranks 2
        rank 0 { send 8b to 1 tag 40 coll allreduce 8b 0 0 -1 coll allreduce 8b 0 1 -1 }
        rank 1 { coll allreduce 8b 0 1 -1 coll allreduce 8b 0 0 -1 recv 8b from 0 tag 40 }";
    let program = expanded(text, "0 1", "recursive-doubling");
    let tags = |rank| {
        let actions = program.body_of(rank).actions.iter();
        let tags = actions.filter_map(|action| match *action {
            Action::Send { tag, .. } => Some(tag),
            _ => None,
        });
        tags.collect::<Vec<u32>>()
    };
    assert_eq!((tags(0), tags(1)), (vec![40, 41, 42], vec![42, 41]));
}

#[test]
fn gpus_of_one_rank_exchange_messages_too() {
    let line = |gpu| format!("AllReduce 64 bytes comm 0 gpu {gpu} stream 0 seq 0 end\n");
    let text = format!("rank 0 {{ {} {} }} rank 1 {{ {} {} }}", line(0), line(1), line(2), line(3));
    for algorithm in ["auto", "ring", "recursive-doubling"] {
        let program = expanded(&text, "", algorithm);
        assert!(sent(&program, 0).iter().any(|message| message.0 == 0), "{algorithm}");
    }
}

#[test]
fn ends_of_messages_become_messages() {
    let text = "rank 0 { a: Send 24 bytes comm 4 gpu 0 stream 0 seq 0 end b: calc 1 b requires a }
        rank 1 { Recv 24 bytes comm 4 gpu 1 stream 0 seq 0 end }";
    let program = expanded(text, "", "auto");
    assert_eq!(
        printed(&program),
        "rank #0 {
  a: send 24b to 1;
  b: calc 1;
  requ b -> a;
}

rank #1 {
  recv 24b from 0;
}
"
    );
}

#[test]
fn every_collective_of_every_root_is_proved() {
    for root in 0..5 {
        for kind in ["bcast", "reduce"] {
            let text = format!("num_ranks 5 rank * {{ coll {kind} 7b 0 0 {root} }}");
            expanded(&text, "3 0 4 1 2", "auto");
        }
    }
    for kind in ["allreduce", "allgather", "reduce_scatter"] {
        for size in [0, 1, 7, 1 << 20] {
            let text = format!("num_ranks 5 rank * {{ coll {kind} {size}b 0 0 -1 }}");
            expanded(&text, "3 0 4 1 2", "auto");
        }
    }
    expanded("num_ranks 1 rank * { coll allreduce 8b 0 0 -1 }", "0", "auto");
}

#[test]
fn what_can_t_be_expanded_is_refused() {
    let allreduce = "num_ranks 3 rank * { coll allreduce 8b 0 0 -1 }";
    let cases = [
        (allreduce, "dissemination"),
        (
            "num_ranks 3 rank * { coll allreduce 8b 0 0 -1 } rank 1 { recv 8b from 0 tag any }",
            "auto",
        ),
        ("num_ranks 3 rank * { Send 8 bytes comm 0 gpu 0 stream 0 seq 0 end }", "auto"),
        (
            "num_ranks 3 rank * { coll allreduce 8b 0 0 -1 }
             rank 0 { send 8b to 0 tag 4294967294 recv 8b from 0 tag 4294967294 }",
            "auto",
        ),
    ];
    let messages = cases.map(|(text, algorithms)| refused(text, "0 1 2", algorithms));
    assert!(messages[0].starts_with("allreduce of 3 members: "), "{}", messages[0]);
    assert_eq!(
        messages[1..],
        [
            "rank 1 receives with any tag, so it could take messages of its collectives",
            "rank 0 sends or receives a message of a communicator that does not have two members",
            "too few tags are left above 4294967294, the largest one of the program: needed 1",
        ]
    );
}

#[test]
fn too_many_actions_are_refused_before_they_are_made() {
    let line = "AllReduce 1048576 bytes comm 0 gpu 0 stream 0 seq 0 end";
    let text = format!("num_ranks 20000 rank * {{ {line} }}");
    let (mut program, found) = read(&text, "");
    let ring: Algorithms = "ring".parse().expect("ring");
    let error = expand(&mut program, &found, &ring).expect_err("4 x 20000^2 actions");
    assert!(matches!(error, ExpandError::TooLarge), "{error}");
}

#[test]
fn lists_of_algorithms_are_read() {
    let refused = |text: &str| match text.parse::<Algorithms>() {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    for text in ["auto", "ring", "bcast=binomial", "ring,reduce=binomial"] {
        assert_eq!(refused(text), "");
    }
    assert_eq!(
        refused("auto=ring"),
        "there is no collective `auto`; write NAME, or KIND=NAME as in bcast=binomial"
    );
    assert_eq!(
        refused("rung"),
        "no collective has an algorithm `rung`; `goalc gen --list` lists them"
    );
    assert_eq!(
        refused("bcast=ring-around"),
        "bcast has no algorithm `ring-around`; `goalc gen bcast --list` lists them"
    );
    assert_eq!(
        refused("ring,binomial"),
        "`binomial` comes after another algorithm for the same collectives"
    );
}
