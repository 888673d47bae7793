"""Collectives whose blocks differ, and those of neighbours, in all their forms."""

import sys

import numpy as np

import goal

NONE = -7


def three_forms(group, name, *arguments, comm, out, wanted):
    """Calls a collective, starts it, and runs it twice as a schedule, each time from `out`."""
    before = None if out is None else out.copy()

    def compare(call):
        if out is not None:
            out[...] = before
        call()
        if out is not None:
            assert (out == wanted).all(), (name, comm, out, wanted)

    compare(lambda: getattr(group, name)(*arguments, comm=comm))
    compare(lambda: getattr(group, "i" + name)(*arguments, comm=comm).wait())
    schedule = getattr(group, name + "_init")(*arguments, comm=comm)
    assert schedule.algorithm
    for _ in range(2):
        compare(lambda: schedule.run().wait())


def block(rank, to, count):
    return 1000 * rank + 100 * to + np.arange(count)


def spread(counts):
    """Places in the order of ranks backwards, with a gap in front of each, and the size of all."""
    places, following = [0] * len(counts), 0
    for at in reversed(range(len(counts))):
        places[at] = following + 1
        following += 1 + counts[at]
    return places, following + 1


def filled(blocks, places, size):
    array = np.full(size, NONE)
    for values, place in zip(blocks, places):
        array[place : place + len(values)] = values
    return array


def on(group, comm):
    rank, size = comm.rank, comm.size

    def check(name, *arguments, out=None, wanted=None):
        three_forms(group, name, *arguments, comm=comm, out=out, wanted=wanted)

    counts = [(2, 0, 3, 1)[r % 4] for r in range(size)]
    own = block(rank, 0, counts[rank])
    places, length = spread(counts)
    every = [block(r, 0, counts[r]) for r in range(size)]
    gathered = filled(every, places, length)
    nothing = np.full(length, NONE)
    out = nothing.copy()
    check("allgatherv", own, out, counts, places, out=out, wanted=gathered)
    packed = np.full(sum(counts), NONE)
    check("allgatherv", own, packed, np.array(counts), out=packed, wanted=np.concatenate(every))
    place = filled([own], [places[rank]], length)
    check("allgatherv", goal.IN_PLACE, place, counts, places, out=place, wanted=gathered)
    for root in range(size):
        if rank == root:
            out = nothing.copy()
            check("gatherv", own, out, counts, places, root, out=out, wanted=gathered)
            check("gatherv", None, place, counts, places, root, out=place, wanted=gathered)
        else:
            for _ in range(2):
                check("gatherv", own, None, None, None, root)
        parts = [block(root, r, counts[r]) for r in range(size)]
        mine = np.full(counts[rank], NONE)
        if rank == root:
            whole = filled(parts, places, length)
            check("scatterv", whole, mine, counts, places, root, out=mine, wanted=parts[rank])
            same = whole.copy()
            check("scatterv", whole, None, counts, places, root, out=whole, wanted=same)
        else:
            for _ in range(2):
                check("scatterv", None, mine, None, None, root, out=mine, wanted=parts[rank])

    def between(source, to):
        return (source + 2 * to) % 3

    sent = [between(rank, r) for r in range(size)]
    got = [between(r, rank) for r in range(size)]
    (from_places, from_length), (to_places, to_length) = spread(sent), spread(got)
    send = filled([block(rank, r, sent[r]) for r in range(size)], from_places, from_length)
    out = np.full(to_length, NONE)
    wanted = filled([block(r, rank, got[r]) for r in range(size)], to_places, to_length)
    lists = (sent, got, from_places, to_places)
    check("alltoallv", send, out, *lists, out=out, wanted=wanted)
    got = [(rank + r) % 3 for r in range(size)]
    places, length = spread(got)
    place = filled([block(rank, r, got[r]) for r in range(size)], places, length)
    wanted = filled([block(r, rank, got[r]) for r in range(size)], places, length)
    check("alltoallv", None, place, None, got, None, places, out=place, wanted=wanted)

    inputs = [np.concatenate([block(r, to, counts[to]) for to in range(size)]) for r in range(size)]
    start = sum(counts[:rank])
    total = sum(inputs)[start : start + counts[rank]]
    out = np.full(counts[rank], NONE)
    check("reduce_scatterv", inputs[rank], out, counts, out=out, wanted=total)


def neighbors(group, parent):
    rank, size = parent.rank, parent.size
    before, after = (rank - 1) % size, (rank + 1) % size
    comm = group.graph_communicator([before, rank, after], [after, rank, before], parent)
    assert comm.sources == [before, rank, after] and comm.destinations == [after, rank, before]
    assert (comm.rank, comm.size) == (rank, size) and parent.sources is None

    def check(name, *arguments, out=None, wanted=None):
        three_forms(group, name, *arguments, comm=comm, out=out, wanted=wanted)

    own = block(rank, 0, 2)
    out = np.full((3, 2), NONE)
    wanted = np.array([block(r, 0, 2) for r in (before, rank, after)])
    check("neighbor_allgather", own, out, out=out, wanted=wanted)
    # Edge i of a rank has the values of block i; that to the rank after it is its last source.
    edges = np.array([block(rank, edge, 2) for edge in range(3)])
    wanted = np.array([block(before, 0, 2), block(rank, 1, 2), block(after, 2, 2)])
    check("neighbor_alltoall", edges, out, out=out, wanted=wanted)
    out = np.full(9, NONE)
    every = [block(r, 0, 2) for r in (before, rank, after)]
    wanted = filled(every, [6, 3, 0], 9)
    check("neighbor_allgatherv", own, out, [2, 2, 2], [6, 3, 0], out=out, wanted=wanted)
    send = np.concatenate([block(rank, 1, 1), block(rank, 2, 2)])
    wanted = filled([[], block(rank, 1, 1), block(after, 2, 2)], [0, 4, 6], 9)
    lists = ([0, 1, 2], [0, 1, 2], None, [-1, 4, 6])
    out = np.full(9, NONE)
    check("neighbor_alltoallv", send, out, *lists, out=out, wanted=wanted)
    # A star: rank 0 sends to all others.
    comm = group.graph_communicator(
        [0] if rank else [], [] if rank else list(range(1, size)), parent
    )
    out = np.full(2, NONE)
    group.neighbor_allgather(own, out if rank else None, comm=comm)
    assert (out == (block(0, 0, 2) if rank else NONE)).all()
    sent = np.array([block(0, r, 1) for r in range(1, size)])
    group.neighbor_alltoall(None if rank else sent, out[:1] if rank else None, comm=comm)
    assert rank == 0 or out[0] == block(0, rank, 1)[0]


def refused(code, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except goal.Error as error:
        assert error.code == code, (error.code, error)
    else:
        raise AssertionError(f"{code} is not raised")


def misuse(group):
    world, size = group.world, group.size
    own, out = np.zeros(2), np.zeros(4 * size)
    refused("GOAL_ERR_COUNT", group.allgatherv, own, out, [2] * (size + 1))
    refused("GOAL_ERR_COUNT", group.allgatherv, own, out, [-2] * size)
    refused("GOAL_ERR_COUNT", group.allgatherv, own, out, [2] * size, [-1] * size)
    refused("GOAL_ERR_COUNT", group.alltoallv, own, out, None, [0] * size)
    refused("GOAL_ERR_COUNT", group.gatherv, own, out, None, None, group.rank)
    refused("GOAL_ERR_BUFFER", group.allgatherv, own, out, [5] * size)
    refused("GOAL_ERR_BUFFER", group.allgatherv, own, out, [2] * size, [size * 8] * size)
    refused("GOAL_ERR_ARG", group.neighbor_allgather, own, out, comm=world)
    refused("GOAL_ERR_RANK", group.graph_communicator, [size], [])
    refused("GOAL_ERR_RANK", group.graph_communicator, [], [-1])
    refused("GOAL_ERR_RANK", group.graph_communicator, [group.rank], [])
    loop = group.graph_communicator([group.rank], [group.rank])
    refused("GOAL_ERR_BUFFER", group.neighbor_allgather, own, None, comm=loop)
    refused("GOAL_ERR_BUFFER", group.neighbor_alltoall, None, out, comm=loop)
    refused("GOAL_ERR_COUNT", group.neighbor_alltoallv, own, out, [1], [2], comm=loop)


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    on(group, group.world)
    backwards = group.communicator(list(reversed(range(group.size))))
    on(group, backwards)
    neighbors(group, group.world)
    neighbors(group, backwards)
    misuse(group)
print("done")
