//! Collectives whose blocks differ, and those of neighbours, against what MPI defines.

use goal::{
    Arguments, BlockList, Blocks, Buffer, CollectiveKind as Kind, Communicator, ErrorCode, Group,
    Op, Schedule,
};

/// A value in the elements that nothing may touch.
const UNTOUCHED: i32 = -7;

fn element(rank: u32, block: u32, at: u64) -> i32 {
    (1000 * rank + 100 * block) as i32 + at as i32
}

fn count_of(rank: u32) -> u64 {
    [3, 0, 1, 2][rank as usize % 4]
}

fn count_between(from: u32, to: u32) -> u64 {
    u64::from((from + 2 * to) % 3)
}

/// Blocks in the order of ranks backwards, with a gap in front of each, and the elements of all.
fn spread(counts: &[u64]) -> (BlockList, usize) {
    let mut next = 0;
    let mut places: Vec<u64> = counts
        .iter()
        .rev()
        .map(|count| {
            let place = next + 1;
            next = place + count;
            place
        })
        .collect();
    places.reverse();
    (BlockList::at(counts, places).unwrap(), next as usize + 1)
}

/// Returns a buffer in which the elements of blocks are `of` their number and place, and others
/// untouched.
fn filled(list: &BlockList, len: usize, of: impl Fn(u32, u64) -> i32) -> Vec<i32> {
    let mut all = vec![UNTOUCHED; len];
    for (block, (&count, &place)) in list.counts().iter().zip(list.displacements()).enumerate() {
        for at in 0..count {
            all[(place + at) as usize] = of(block as u32, at);
        }
    }
    all
}

/// Runs a schedule twice and compares its output.
fn compare(schedule: &Schedule, output: &Buffer<i32>, wanted: &[i32]) {
    for _ in 0..2 {
        output.write().unwrap().fill(UNTOUCHED);
        schedule.run().unwrap().wait().unwrap();
        assert_eq!(output.read().unwrap()[..], *wanted, "{:?}", schedule.algorithm());
    }
}

pub(crate) fn all(group: Group) {
    on(group, group.world());
    let backwards: Vec<u32> = (0..group.size()).rev().collect();
    on(group, &group.communicator(group.world(), &backwards).unwrap());
    neighbors(group);
}

fn prepare(
    communicator: &Communicator,
    kind: Kind,
    root: u32,
    input: Option<&Buffer<i32>>,
    output: Option<&Buffer<i32>>,
    blocks: &Blocks,
) -> Schedule {
    let arguments = Arguments { kind, count: 0, op: Op::Sum, root, input, output };
    let group = Group::current().unwrap();
    group.collective_of_blocks(communicator, &arguments, blocks).unwrap()
}

fn on(group: Group, communicator: &Communicator) {
    let (rank, size) = (communicator.rank(), communicator.size());
    let counts: Vec<u64> = (0..size).map(count_of).collect();
    let (list, len) = spread(&counts);
    let own: Vec<i32> = (0..count_of(rank)).map(|at| element(rank, 0, at)).collect();
    let own = group.buffer(&own).unwrap();
    let output = group.zeros::<i32>(len).unwrap();
    let gathered = filled(&list, len, |rank, at| element(rank, 0, at));
    let each = Blocks::Each(list.clone());
    let allgather = prepare(communicator, Kind::Allgather, 0, Some(&own), Some(&output), &each);
    compare(&allgather, &output, &gathered);

    for root in 0..size {
        let known = if rank == root { each.clone() } else { Blocks::Own(count_of(rank)) };
        let at_root = Some(&output).filter(|_| rank == root);
        let gather = prepare(communicator, Kind::Gather, root, Some(&own), at_root, &known);
        let untouched = vec![UNTOUCHED; len];
        compare(&gather, &output, if rank == root { &gathered } else { &untouched });

        let input = filled(&list, len, |block, at| element(root, block, at));
        let input = group.buffer(&input).unwrap();
        let part = group.zeros::<i32>(count_of(rank) as usize).unwrap();
        let at_root = Some(&input).filter(|_| rank == root);
        let scatter = prepare(communicator, Kind::Scatter, root, at_root, Some(&part), &known);
        let wanted: Vec<i32> = (0..count_of(rank)).map(|at| element(root, rank, at)).collect();
        compare(&scatter, &part, &wanted);
    }

    let (send, send_len) = spread(&(0..size).map(|to| count_between(rank, to)).collect::<Vec<_>>());
    let (recv, recv_len) =
        spread(&(0..size).map(|from| count_between(from, rank)).collect::<Vec<_>>());
    let input = filled(&send, send_len, |to, at| element(rank, to, at));
    let wanted = filled(&recv, recv_len, |from, at| element(from, rank, at));
    let (input, received) = (group.buffer(&input).unwrap(), group.zeros::<i32>(recv_len).unwrap());
    let pairs = Blocks::Pairs { send, recv };
    let alltoall = prepare(communicator, Kind::Alltoall, 0, Some(&input), Some(&received), &pairs);
    compare(&alltoall, &received, &wanted);

    let packed = BlockList::packed(counts);
    let input = filled(&packed, packed.total() as usize, |block, at| element(rank, block, at));
    let input = group.buffer(&input).unwrap();
    let part = group.zeros::<i32>(count_of(rank) as usize).unwrap();
    let sum = |at| (0..size).map(|other| element(other, rank, at)).sum();
    let wanted: Vec<i32> = (0..count_of(rank)).map(sum).collect();
    let blocks = Blocks::Each(packed);
    let reduce_scatter =
        prepare(communicator, Kind::ReduceScatter, 0, Some(&input), Some(&part), &blocks);
    compare(&reduce_scatter, &part, &wanted);
}

/// A ring with an edge of each rank to itself. Of two ranks, each is twice the other's neighbour.
fn neighbors(group: Group) {
    let (rank, size) = (group.rank(), group.size());
    let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
    let graph =
        group.graph_communicator(group.world(), &[before, rank, after], &[after, rank, before]);
    let graph = graph.unwrap();
    let own = group.buffer(&[element(rank, 0, 0), element(rank, 0, 1)]).unwrap();
    let output = group.zeros::<i32>(6).unwrap();
    let arguments = Arguments {
        kind: Kind::NeighborAllgather,
        count: 2,
        op: Op::Sum,
        root: 0,
        input: Some(&own),
        output: Some(&output),
    };
    let allgather = group.collective(&graph, &arguments).unwrap();
    let wanted: Vec<i32> = [before, rank, after]
        .iter()
        .flat_map(|&from| [element(from, 0, 0), element(from, 0, 1)])
        .collect();
    compare(&allgather, &output, &wanted);

    // Edge i of a rank has i elements; the one to the rank after is its last source there.
    let input: Vec<i32> = (0..3).map(|at| element(rank, 0, at)).collect();
    let input = group.buffer(&input).unwrap();
    let output = group.zeros::<i32>(3).unwrap();
    let blocks =
        Blocks::Pairs { send: BlockList::packed([0, 1, 2]), recv: BlockList::packed([0, 1, 2]) };
    let kind = Kind::NeighborAlltoall;
    let arguments = Arguments { kind, input: Some(&input), output: Some(&output), ..arguments };
    let alltoall = group.collective_of_blocks(&graph, &arguments, &blocks).unwrap();
    // Sources are before, self, after: nothing, one element, and the two for the rank before.
    let wanted = [element(rank, 0, 0), element(after, 0, 1), element(after, 0, 2)];
    compare(&alltoall, &output, &wanted);

    let error = group.collective(group.world(), &arguments).map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Argument);
    let error = group.graph_communicator(group.world(), &[size], &[]).map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Rank);
}

/// A table of decisions that knows equal blocks only leaves others to the published one.
pub(crate) fn by_table(group: Group) {
    let counts: Vec<u64> = (0..group.size()).map(count_of).collect();
    let list = BlockList::packed(counts);
    let own = group.zeros::<i32>(count_of(group.rank()) as usize).unwrap();
    let output = group.zeros::<i32>(list.total() as usize).unwrap();
    let (kind, input, output) = (Kind::Allgather, Some(&own), Some(&output));
    let arguments = Arguments { kind, count: 0, op: Op::Sum, root: 0, input, output };
    let blocks = Blocks::Each(list);
    let allgather = group.collective_of_blocks(group.world(), &arguments, &blocks).unwrap();
    assert!(allgather.algorithm().is_some());
    allgather.run().unwrap().wait().unwrap();
}
