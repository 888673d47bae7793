//! Every algorithm, for the numbers of ranks and the roots that it takes, as MPI defines its
//! collective.

use crate::{ALGORITHMS, Algorithm, GenerateError, Request};
use goal_check::{Collective, Options, check_into};
use goal_lang::diag::Report;
use goal_lang::{CollectiveKind, Datatype, Function, Op};

const RANKS: [u32; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33];

/// Generates a program and proves it. Returns false if the algorithm does not take the request.
fn prove(algorithm: &Algorithm, request: &Request) -> bool {
    let program = match algorithm.program(request) {
        Ok(program) => program,
        Err(GenerateError::Ranks { .. } | GenerateError::Order { .. }) => return false,
        Err(error) => panic!("{algorithm:?}: {error}: {request:?}"),
    };
    let collective = Collective {
        kind: request.kind,
        root: request.root,
        function: request.function,
        datatype: request.datatype,
        count: (request.kind != CollectiveKind::Barrier).then_some(request.count),
        input: request.input,
        output: request.output,
    };
    // The program must end even if every send waits for its receive.
    let options = Options { collective: Some(collective), eager_limit: 0, ..Options::default() };
    let mut report = Report::default();
    let proved = check_into(&program, None, &options, &mut report);
    let found = &report.diagnostics;
    assert!(found.is_empty() && proved.is_some(), "{algorithm:?}: {found:#?}: {request:?}");
    true
}

/// Returns the requests of a number of ranks: every root, in place and not, with some counts.
fn requests(kind: CollectiveKind, ranks: u32) -> Vec<Request> {
    let roots = if kind.has_root() { 0..ranks } else { 0..1 };
    let of_root = |root| {
        let counts: &[u64] = if ranks > 17 { &[3] } else { &[1, 7] };
        counts.iter().flat_map(move |&count| {
            let request = Request { root, count, ..Request::new(kind, ranks) };
            let output = 8192;
            let apart = Request { input: Some(0), output, ..request };
            [request, apart]
        })
    };
    let all = roots.flat_map(of_root);
    if kind == CollectiveKind::Barrier { all.take(1).collect() } else { all.collect() }
}

fn prove_all(kind: CollectiveKind) {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.kind == kind) {
        let mut proved = 0;
        for request in RANKS.into_iter().flat_map(|ranks| requests(kind, ranks)) {
            let segments: &[u64] = if algorithm.has_segments { &[0, 8] } else { &[0] };
            let degrees: &[u32] = if algorithm.has_degree { &[1, 2, 3] } else { &[2] };
            for &segment in segments {
                for &degree in degrees {
                    let request = Request { segment, degree, ..request };
                    let mut requests = vec![request];
                    if kind.combines() {
                        let function = Function::Predefined(Op::Max, Datatype::Float64);
                        let datatype = Datatype::Float64;
                        let of_user = Request { function: Function::User(5), ..request };
                        requests.extend([Request { function, datatype, ..request }, of_user]);
                    }
                    for request in requests {
                        proved += u32::from(prove(algorithm, &request));
                    }
                }
            }
        }
        // Seen with `-- --nocapture`.
        println!("{algorithm:?}: {proved} proofs");
        assert!(proved >= 10, "{algorithm:?}: {proved} proofs");
    }
}

macro_rules! proofs {
    ($($name:ident: $kind:ident,)*) => {
        $(#[test]
        fn $name() {
            prove_all(CollectiveKind::$kind);
        })*

        #[test]
        fn every_collective_is_proved() {
            let proved = [$(CollectiveKind::$kind),*];
            assert_eq!(proved, CollectiveKind::ALL);
        }
    };
}

proofs! {
    bcast: Bcast,
    reduce: Reduce,
    allreduce: Allreduce,
    gather: Gather,
    allgather: Allgather,
    scatter: Scatter,
    alltoall: Alltoall,
    reduce_scatter: ReduceScatter,
    scan: Scan,
    exscan: Exscan,
    barrier: Barrier,
}
