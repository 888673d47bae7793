use super::{Verdict, reduce};
use goal_lang::{Action, BodyBuilder, Payload, Placement, Program, ProgramBuilder, Style, print};
use goal_opt::verify;
use goal_opt::whole::{Run, Whole};

fn text(program: &Program) -> String {
    let mut text = Vec::new();
    print(program, Style::Schedgen, &mut text).expect("a vector takes every byte");
    String::from_utf8(text).expect("text")
}

/// Returns true if a run gets stuck in which messages of more than 1000 bytes wait for their
/// receives.
fn is_stuck(program: &Program) -> bool {
    let whole = Whole::new(program).expect("a small program");
    !Run::new(&whole).finish(1000).is_complete()
}

fn message(size: u64) -> (Payload, Placement) {
    (Payload::Pattern { size }, Placement { cpu: 1, nic: 0 })
}

fn send(to: u32, tag: u32, size: u64) -> Action {
    let (payload, placement) = message(size);
    Action::Send { payload, to, tag, placement }
}

fn recv(from: u32, tag: u32, size: u64) -> Action {
    let (payload, placement) = message(size);
    Action::Recv { payload, from, tag, placement }
}

/// Six ranks pass small messages around, 200 times each; ranks 2 and 5 also send each other 70,000
/// bytes before they receive.
fn with_deadlock() -> Program {
    let mut program = ProgramBuilder::default();
    for rank in 0..6 {
        let mut body = BodyBuilder::default();
        let mut before = None;
        for round in 0..200 {
            let come = body.action(recv((rank + 5) % 6, 7, 8));
            let go = body.action(send((rank + 1) % 6, 7, 8));
            before.inspect(|&before| body.requires(come, before));
            before = Some(go);
            if round == 100 && (rank == 2 || rank == 5) {
                let go = body.labelled("big", send(7 - rank, 9, 70_000));
                let work = body.action(Action::Calc { nanos: 5, placement: Placement::default() });
                let come = body.action(recv(7 - rank, 9, 70_000));
                body.requires(work, go);
                body.requires(come, work);
            }
        }
        program.rank_with(body.finish());
    }
    program.finish()
}

fn asked(program: &Program, is_interesting: impl Fn(&Program) -> bool) -> (Program, u32) {
    let mut count = 0;
    let mut verdict = |candidate: &Program| {
        count += 1;
        verify(candidate).expect("candidates are valid");
        if is_interesting(candidate) { Verdict::Interesting } else { Verdict::Uninteresting }
    };
    let reduced = reduce(program, &mut verdict).expect("an interesting program");
    assert!(reduced.is_minimal);
    (reduced.program, count)
}

/// Returns true if every send has its receive.
fn is_matched(program: &Program) -> bool {
    let (mut sends, mut recvs) = (Vec::new(), Vec::new());
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        for action in &body.actions {
            match *action {
                Action::Send { payload, to, tag, .. } => {
                    sends.push((rank, to, tag, body.payload_size(payload)))
                }
                Action::Recv { payload, from, tag, .. } => {
                    recvs.push((from, rank, tag, body.payload_size(payload)));
                }
                _ => {}
            }
        }
    }
    sends.sort_unstable();
    recvs.sort_unstable();
    sends == recvs
}

#[test]
fn a_deadlock_of_two_sends_is_found_among_thousands_of_actions() {
    let (program, count) =
        asked(&with_deadlock(), |program| is_matched(program) && is_stuck(program));
    insta::assert_snapshot!(text(&program));
    assert!(count < 500, "{count} candidates");
}

#[test]
fn an_action_that_goes_hands_its_dependencies_on() {
    let mut body = BodyBuilder::default();
    let chain: Vec<_> = (0..1000)
        .map(|i| body.action(Action::Calc { nanos: i, placement: Placement::default() }))
        .collect();
    for pair in chain.windows(2) {
        body.requires(pair[1], pair[0]);
    }
    let mut program = ProgramBuilder::default();
    program.rank_with(body.finish());
    let program = program.finish();
    // The actions of 700 and of 200 ns, the first after the second.
    let in_order = |program: &Program| {
        let body = program.body_of(0);
        let find = |nanos| {
            body.ids()
                .find(|&id| matches!(body.action(id), Action::Calc { nanos: n, .. } if *n == nanos))
        };
        let Some((late, early)) = find(700).zip(find(200)) else { return false };
        let (mut reached, mut next) = (vec![early], 0);
        while let Some(&at) = reached.get(next) {
            next += 1;
            reached.extend_from_slice(body.requires.row(at));
        }
        reached.contains(&late)
    };
    let (program, count) = asked(&program, in_order);
    insta::assert_snapshot!(text(&program));
    assert!(count < 200, "{count} candidates");
}

#[test]
fn numbers_get_as_small_as_they_may() {
    let least = |program: &Program| {
        program.bodies.iter().flat_map(|body| &body.actions).any(|action| {
            matches!(
                action,
                Action::Send { payload: Payload::Pattern { size: 1001.. }, tag: 3.., .. }
            )
        })
    };
    let (program, _) = asked(&with_deadlock(), least);
    insta::assert_snapshot!(text(&program));
}

#[test]
fn what_is_not_interesting_is_refused_and_stop_stops() {
    let program = with_deadlock();
    assert!(reduce(&program, &mut |_| Verdict::Uninteresting).is_none());
    let mut count = 0;
    let mut verdict = |candidate: &Program| {
        count += 1;
        match count {
            5.. => Verdict::Stop,
            _ if is_stuck(candidate) => Verdict::Interesting,
            _ => Verdict::Uninteresting,
        }
    };
    let reduced = reduce(&program, &mut verdict).expect("an interesting program");
    assert!(!reduced.is_minimal);
    assert!(is_stuck(&reduced.program));
    assert_eq!(count, 5);
}

#[test]
fn random_programs_are_reduced_to_nothing_if_all_are_interesting() {
    for seed in 0..goal_filetest::seeds(200) {
        let program = goal_smith::program(seed, &goal_smith::Shape::default());
        let (program, _) = asked(&program, |_| true);
        assert_eq!(program.num_ranks(), 1, "seed {seed}");
        assert!(program.bodies.iter().all(|body| body.is_empty()), "seed {seed}");
        assert!(program.images.iter().all(|image| image.is_empty()), "seed {seed}");
    }
}

/// All candidates are valid programs, for any verdicts.
#[test]
fn candidates_are_valid_whatever_the_verdicts() {
    for seed in 0..goal_filetest::seeds(200) {
        let program = goal_smith::program(seed, &goal_smith::Shape::default());
        let mut dice = fastrand::Rng::with_seed(seed);
        let mut is_first = true;
        let mut verdict = |candidate: &Program| {
            verify(candidate).unwrap_or_else(|faults| panic!("seed {seed}: {faults}"));
            let is_interesting = std::mem::take(&mut is_first) || dice.u8(..4) == 0;
            if is_interesting { Verdict::Interesting } else { Verdict::Uninteresting }
        };
        assert!(
            reduce(&program, &mut verdict).expect("the first is interesting").is_minimal,
            "seed {seed}"
        );
    }
}
