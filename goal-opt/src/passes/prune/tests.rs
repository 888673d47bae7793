use super::*;
use goal_lang::{Action, ActionId, BodyBuilder};

/// Random dependencies of both kinds, in a random order of the actions. The smaller `reach`, the
/// shorter they are.
fn random_body(seed: u64, actions: usize, edges: usize, reach: usize) -> Body {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut ids: Vec<ActionId> = (0..actions).map(ActionId::new).collect();
    if random.bool() {
        random.shuffle(&mut ids);
    }
    let mut builder = BodyBuilder::default();
    for _ in 0..actions {
        builder.action(Action::Nop);
    }
    let starts_percent = random.u32(0..100);
    for _ in 0..edges {
        let later = random.usize(1..actions);
        let earlier = later - random.usize(1..=later.min(reach));
        match random.u32(0..100) < starts_percent {
            true => builder.irequires(ids[later], ids[earlier]),
            false => builder.requires(ids[later], ids[earlier]),
        }
    }
    builder.finish()
}

/// The events of a body: the start of action i is 2i, its end 2i + 1. Returns, for each event,
/// those that come after it.
fn closure(body: &Body, but: Option<(bool, usize)>) -> Vec<Vec<bool>> {
    let events = 2 * body.len();
    let mut after = vec![vec![false; events]; events];
    for i in 0..body.len() {
        after[2 * i][2 * i + 1] = true;
    }
    for (by_end, csr) in [(true, &body.requires), (false, &body.irequires)] {
        for (_, edge) in csr.edges().enumerate().filter(|(i, _)| but != Some((by_end, *i))) {
            after[2 * edge.prerequisite.index() + usize::from(by_end)][2 * edge.waiter.index()] =
                true;
        }
    }
    for middle in 0..events {
        let row = after[middle].clone();
        for before in after.iter_mut().filter(|before| before[middle]) {
            before.iter_mut().zip(&row).for_each(|(mine, &theirs)| *mine |= theirs);
        }
    }
    after
}

/// By kind and edge, true if the order is the same without it.
fn redundant(body: &Body) -> (Vec<bool>, Vec<bool>) {
    let whole = closure(body, None);
    let of = |by_end, csr: &Csr| {
        (0..csr.len()).map(|i| closure(body, Some((by_end, i))) == whole).collect()
    };
    (of(true, &body.requires), of(false, &body.irequires))
}

#[test]
fn what_goes_is_what_the_order_can_do_without() {
    let (mut dropped, mut kept) = (0, 0);
    for seed in 0..goal_filetest::seeds(1500) {
        let actions = 2 + seed as usize % 11;
        let original = random_body(seed, actions, actions * 2, 12);
        let (requires, irequires) = redundant(&original);
        for method in [Method::Fitting, Method::Clocks, Method::Search] {
            let mut body = original.clone();
            body.debug.requires = (0..body.requires.len() as u64).collect();
            body.debug.irequires = (0..body.irequires.len() as u64).collect();
            let pruned = prune_by(&mut body, method);
            let left = |redundant: &[bool]| {
                let left = redundant.iter().enumerate().filter(|(_, redundant)| !**redundant);
                left.map(|(i, _)| i as u64).collect::<Vec<_>>()
            };
            assert_eq!(body.debug.requires, left(&requires), "seed {seed}, {method:?}");
            assert_eq!(body.debug.irequires, left(&irequires), "seed {seed}, {method:?}");
            assert_eq!(closure(&body, None), closure(&original, None), "seed {seed}, {method:?}");
            dropped += pruned.dropped;
            kept += body.requires.len() + body.irequires.len();
            assert_eq!(
                prune_by(&mut body, method),
                Pruned::default(),
                "seed {seed}: not idempotent"
            );
        }
    }
    assert!(dropped > 5000 && kept > 5000, "{dropped} dropped, {kept} kept");
}

#[test]
fn both_methods_agree_on_larger_bodies() {
    for seed in 0..goal_filetest::seeds(40) {
        let original = random_body(seed, 400, 1600, [3, 20, 400][seed as usize % 3]);
        let (mut clocks, mut search) = (original.clone(), original.clone());
        let pruned = prune_by(&mut clocks, Method::Clocks);
        assert_eq!(prune_by(&mut search, Method::Search), pruned, "seed {seed}");
        assert!(clocks.same_graph(&search), "seed {seed}");
    }
}

#[test]
fn long_dependencies_of_narrow_bodies_are_found_whatever_their_length() {
    let mut builder = BodyBuilder::default();
    let ids: Vec<ActionId> = (0..100_000).map(|_| builder.action(Action::Nop)).collect();
    // Two chains. Every action of one also waits for the first of the other; only the first of
    // these dependencies is needed.
    for pair in ids.windows(3) {
        builder.requires(pair[2], pair[0]);
    }
    for &id in ids.iter().skip(3).step_by(2) {
        builder.requires(id, ids[0]);
    }
    let mut body = builder.finish();
    let edges = body.requires.len();
    let pruned = prune(&mut body);
    assert_eq!(pruned, Pruned { dropped: edges - 99_999, undecided: 0 });
}

#[test]
fn adverse_bodies_are_cut_and_said_to_be() {
    // Layers in which each action waits for many of the layer before. A dependency across all
    // layers is found behind all of them.
    let (width, layers, many) = (200, 8, 30);
    let mut builder = BodyBuilder::default();
    let ids: Vec<ActionId> = (0..width * layers).map(|_| builder.action(Action::Nop)).collect();
    for at in width..ids.len() {
        for nth in 0..many {
            builder
                .requires(ids[at], ids[at / width * width - width + (at * 7 + nth * 13) % width]);
        }
    }
    for at in (layers - 1) * width..ids.len() {
        builder.requires(ids[at], ids[at % width]);
    }
    let mut body = builder.finish();
    let edges = body.requires.len();
    let pruned = prune(&mut body);
    assert!(pruned.undecided > 0 && pruned.undecided <= width, "{pruned:?}");
    assert_eq!(edges - body.requires.len(), pruned.dropped);
}
