//! Algorithms whose ranks differ in their peers only: what rank 0 says of the others.

use crate::{ALGORITHMS, Algorithm, GenerateError, Request};
use goal_lang::{
    CollectiveKind, Datatype, Function, Op, ParseOptions, Relation, SourceMap, Style, parse,
    parse_symmetric, print_symmetric,
};
use std::sync::Arc;

/// Compares the program of all ranks with what is read of the text with relative peers. Returns
/// false if there is no such text.
fn compare(algorithm: &Algorithm, request: &Request) -> bool {
    let symmetric = match algorithm.symmetric(request) {
        Ok(symmetric) => symmetric,
        Err(GenerateError::Ranks { .. } | GenerateError::Unlike { .. }) => return false,
        Err(GenerateError::Order { .. }) => return false,
        Err(error) => panic!("{algorithm:?}: {error}: {request:?}"),
    };
    let all = algorithm.program(request).expect("it was checked");
    for style in [Style::Paper2009, Style::Schedgen] {
        let mut text = Vec::new();
        print_symmetric(&symmetric, style, &mut text).expect("a vector takes every byte");
        let mut sources = SourceMap::default();
        sources.add("text".to_owned(), Arc::new(text));
        let options = ParseOptions::default();
        let read = parse(&sources, &options).program.expect("the text is right");
        assert_eq!(read.num_ranks(), request.ranks);
        for rank in 0..request.ranks {
            let is_equal = read.body_of(rank).same_graph(all.body_of(rank));
            assert!(is_equal, "{algorithm:?}, rank {rank}: {request:?}");
        }
        let back = parse_symmetric(&sources, &options).expect("it is symmetric");
        assert!(back.body.same_graph(&symmetric.body), "{algorithm:?}: {request:?}");
    }
    true
}

#[test]
fn texts_with_relative_peers_are_the_programs_of_all_ranks() {
    let functions = [
        (Function::Predefined(Op::Sum, Datatype::Int32), Datatype::Int32),
        (Function::Predefined(Op::Max, Datatype::Float64), Datatype::Float64),
        (Function::User(5), Datatype::Int32),
    ];
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.relation.is_some()) {
        let (mut compared, mut refused) = (0, 0);
        for ranks in (1..=40).chain([64, 81, 128]) {
            for (function, datatype) in functions {
                for (count, degree) in [(0, 1), (1, 1), (1, 2), (7, 3), (1000, 40)] {
                    let new = Request::new(algorithm.kind, ranks);
                    let mut request = Request { count, degree, ..new };
                    if algorithm.kind.combines() {
                        (request.function, request.datatype) = (function, datatype);
                    }
                    let apart = Request { input: Some(0), output: 1 << 16, ..request.clone() };
                    let is_barrier = algorithm.kind == CollectiveKind::Barrier;
                    for request in std::iter::once(request).chain((!is_barrier).then_some(apart)) {
                        match compare(algorithm, &request) {
                            true => compared += 1,
                            false => refused += 1,
                        }
                    }
                }
            }
        }
        assert!(compared > 50, "{algorithm:?}: {compared}");
        let is_for_all = algorithm.kind == CollectiveKind::Barrier
            && algorithm.relation == Some(Relation::Shift);
        assert_eq!(refused == 0, is_for_all, "{algorithm:?}");
    }
}

/// An algorithm without a relation has ranks that differ in more than their peers.
#[test]
fn other_algorithms_are_refused() {
    let ring = crate::algorithm(CollectiveKind::Allreduce, "ring").expect("in the table");
    let request = Request { count: 8, ..Request::new(CollectiveKind::Allreduce, 8) };
    let error = ring.symmetric(&request).expect_err("chunks differ");
    assert_eq!(error.to_string(), "with ring, ranks differ in more than their peers");
    let doubling = crate::algorithm(CollectiveKind::Barrier, "recursive-doubling").unwrap();
    let error = doubling.symmetric(&Request::new(CollectiveKind::Barrier, 6)).unwrap_err();
    let message = "with recursive-doubling, ranks differ in more than their peers, unless there are \
                   1, 2, 4, 8 ... of them and the operation commutes";
    assert_eq!(error.to_string(), message);
}
