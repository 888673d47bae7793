use super::*;
use std::collections::HashSet;

fn check(edges: &[(u32, u32)]) {
    let colours = colour(edges).of;
    let degree = proper(edges, &colours);
    assert!(colours.iter().all(|&colour| colour < degree), "{edges:?} have a degree of {degree}");
}

/// Asserts that no vertex has a colour twice. Returns the largest degree.
fn proper(edges: &[(u32, u32)], colours: &[u32]) -> u32 {
    let mut degrees: FxHashMap<(bool, u32), u32> = FxHashMap::default();
    let mut seen = HashSet::new();
    for (&(left, right), &colour) in edges.iter().zip(colours) {
        for end in [(false, left), (true, right)] {
            *degrees.entry(end).or_default() += 1;
            assert!(seen.insert((end, colour)), "colour {colour} twice at {end:?} of {edges:?}");
        }
    }
    degrees.values().copied().max().unwrap_or(0)
}

fn random(seed: u64) -> Vec<(u32, u32)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (left, right) = (random.u32(1..12), random.u32(1..12));
    (0..random.usize(0..80)).map(|_| (random.u32(0..left), random.u32(0..right))).collect()
}

#[test]
fn random_multigraphs_need_as_many_colours_as_their_degree() {
    check(&[]);
    (0..goal_filetest::seeds(5000)).for_each(|seed| check(&random(seed)));
}

/// If the bound on the work is reached, there are more colours, at most twice as many, but
/// still a colouring.
#[test]
fn without_paths_there_are_more_colours() {
    let mut more = 0;
    for seed in 0..goal_filetest::seeds(5000) {
        let edges = random(seed);
        let mut colouring = Colouring::new(&edges);
        colouring.steps_left = seed as usize % 8;
        let colours = colouring.solve(&(0..edges.len() as u32).collect::<Vec<_>>());
        let degree = proper(&edges, &colouring.colours);
        assert!(colours <= (2 * degree).max(1), "{colours} for a degree of {degree}");
        assert!(colouring.colours.iter().all(|&colour| colour < colours.max(1)));
        more += u32::from(colours > degree);
    }
    assert!(more > 200, "{more}");
}

#[test]
fn an_alltoall_runs_in_rounds_of_permutations() {
    for ranks in [2, 3, 8, 33, 64] {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        check(&pairs.filter(|(from, to)| from != to).collect::<Vec<_>>());
    }
}

#[test]
fn a_hub_takes_no_more_than_its_edges() {
    check(&(0..100_000).map(|source| (source, 7)).collect::<Vec<_>>());
}
