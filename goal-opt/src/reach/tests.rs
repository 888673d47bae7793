use super::*;

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::new(nodes, |edge| edges.iter().for_each(|&(from, to)| edge(from, to)))
        .expect("few nodes")
}

/// By pair, true if there is a path, found by brute force.
fn closure(nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<bool>> {
    let mut reached: Vec<Vec<bool>> =
        (0..nodes).map(|a| (0..nodes).map(|b| a == b).collect()).collect();
    // Edges ascend, so going backwards through the nodes completes a node's row before it is used.
    for from in (0..nodes).rev() {
        for &(_, to) in edges.iter().filter(|&&(start, _)| start as usize == from) {
            let row = reached[to as usize].clone();
            reached[from].iter_mut().zip(row).for_each(|(mine, theirs)| *mine |= theirs);
        }
    }
    reached
}

#[test]
fn answers_are_those_of_the_closure() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut searched = 0;
    for _ in 0..goal_filetest::seeds(300) {
        let nodes = random.usize(1..60);
        let edges: Vec<(u32, u32)> = (0..random.usize(0..120))
            .map(|_| (random.u32(0..nodes as u32), random.u32(0..nodes as u32)))
            .filter(|(from, to)| from < to)
            .collect();
        let expected = closure(nodes, &edges);
        let mut reach = Reach::new(graph(nodes, &edges));
        for from in 0..nodes as u32 {
            for to in 0..nodes as u32 {
                searched += u32::from(reach.labels.decide(from, to).is_none());
                let answer = Some(expected[from as usize][to as usize]);
                assert_eq!(reach.reaches(from, to), answer, "{from} to {to} in {edges:?}");
                assert!(answer == Some(false) || reach.position(from) <= reach.position(to));
            }
        }
    }
    assert!(searched > 1000, "{searched}");
}

#[test]
fn a_search_that_may_not_look_far_says_so() {
    let nodes = 40;
    let mut random = fastrand::Rng::with_seed(1);
    let edges: Vec<(u32, u32)> = (0..80)
        .map(|_| (random.u32(0..nodes), random.u32(0..nodes)))
        .filter(|(from, to)| from < to)
        .collect();
    let mut reach = Reach::new(graph(nodes as usize, &edges));
    let open: Vec<(u32, u32)> = (0..nodes)
        .flat_map(|from| (0..nodes).map(move |to| (from, to)))
        .filter(|&(from, to)| reach.labels.decide(from, to).is_none())
        .collect();
    assert!(!open.is_empty());
    reach.steps_left = 0;
    for (from, to) in open {
        assert_eq!(reach.reaches(from, to), None);
    }
}

#[test]
fn a_chain_of_a_million_is_decided_by_labels() {
    let nodes = 1_000_000;
    let chain = Graph::new(nodes, |edge| (1..nodes as u32).for_each(|to| edge(to - 1, to)))
        .expect("few nodes");
    let mut reach = Reach::new(chain);
    reach.steps_left = 0;
    assert_eq!(reach.reaches(3, 999_999), Some(true));
    assert_eq!(reach.reaches(999_999, 3), Some(false));
}
