//! Orders and cycles compared with petgraph's algorithms, which share no code with this crate.

use goal_lang::{Action, ActionId, Body, BodyBuilder, Cycle, topological_order};
use petgraph::algo::{is_cyclic_directed, tarjan_scc};
use petgraph::graphmap::DiGraphMap;
use std::collections::HashMap;

/// Random dependencies of both kinds. With as many edges as actions, about every other graph has a
/// cycle.
fn random_body(seed: u64) -> Body {
    let mut random = fastrand::Rng::with_seed(seed);
    let actions = random.usize(1..40);
    let mut builder = BodyBuilder::default();
    let ids: Vec<ActionId> = (0..actions).map(|_| builder.action(Action::Nop)).collect();
    for _ in 0..random.usize(0..=actions) {
        let (waiter, prerequisite) = (ids[random.usize(0..actions)], ids[random.usize(0..actions)]);
        match random.bool() {
            true => builder.requires(waiter, prerequisite),
            false => builder.irequires(waiter, prerequisite),
        }
    }
    builder.finish()
}

/// An edge leads from an action to one that waits for it.
fn graph(body: &Body) -> DiGraphMap<u32, ()> {
    let mut graph = DiGraphMap::new();
    for id in body.ids() {
        graph.add_node(id.0);
    }
    for edge in body.requires.edges().chain(body.irequires.edges()) {
        graph.add_edge(edge.prerequisite.0, edge.waiter.0, ());
    }
    graph
}

#[test]
fn an_order_is_found_where_there_is_one_and_a_cycle_elsewhere() {
    let (mut orders, mut cycles) = (0, 0);
    for seed in 0..goal_filetest::seeds(5000) {
        let body = random_body(seed);
        let graph = graph(&body);
        match topological_order(&body) {
            Ok(order) => {
                orders += 1;
                assert!(
                    !is_cyclic_directed(&graph),
                    "seed {seed}: an order of a graph with a cycle"
                );
                let place: HashMap<u32, usize> =
                    order.iter().enumerate().map(|(at, id)| (id.0, at)).collect();
                assert_eq!(place.len(), body.len(), "seed {seed}");
                assert!(
                    graph.all_edges().all(|(before, after, ())| place[&before] < place[&after]),
                    "seed {seed}"
                );
            }
            Err(Cycle(cycle)) => {
                cycles += 1;
                let next = cycle.iter().cycle().skip(1);
                let follows = cycle
                    .iter()
                    .zip(next)
                    .all(|(waiter, next)| graph.contains_edge(next.0, waiter.0));
                assert!(follows, "seed {seed}: {cycle:?} is no path of dependencies");
                let mut components = tarjan_scc(&graph).into_iter();
                let whole =
                    components.any(|component| cycle.iter().all(|id| component.contains(&id.0)));
                assert!(whole, "seed {seed}: {cycle:?} is in no component");
            }
        }
    }
    assert!(orders > 500 && cycles > 500, "{orders} orders, {cycles} cycles");
}
