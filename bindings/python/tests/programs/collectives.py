"""Collectives in all their forms, compared with numpy."""

import sys

import numpy as np

import goal

OPS = {"sum": np.add, "max": np.maximum, "min": np.minimum, "bxor": np.bitwise_xor}


def inputs(comm, shape, kind=np.int64):
    """Returns the inputs of all ranks of a communicator."""
    every = np.random.default_rng(7).integers(0, 100, (comm.size, *shape))
    return every.astype(kind)


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
    assert schedule.algorithm and schedule.text().startswith("num_ranks")
    for _ in range(2):
        compare(lambda: schedule.run().wait())


def on(group, comm):
    rank, size, root = comm.rank, comm.size, comm.size - 1
    is_root = rank == root

    def check(name, *arguments, out=None, wanted=None):
        three_forms(group, name, *arguments, comm=comm, out=out, wanted=wanted)

    check("barrier")
    for count in (1, 7, 3000):
        every = inputs(comm, (count,))
        own, out = every[rank].copy(), np.full(count, -1)
        check("bcast", own, root, out=own, wanted=every[root])
        own = every[rank].copy()
        for op, function in OPS.items():
            total = function.reduce(every, axis=0)
            before = function.accumulate(every, axis=0)
            check("allreduce", own, out, op, out=out, wanted=total)
            place = own.copy()
            check("allreduce", goal.IN_PLACE, place, op, out=place, wanted=total)
            check("scan", own, out, op, out=out, wanted=before[rank])
            check("exscan", own, out, op, out=out, wanted=before[rank - 1] if rank else out)
            place = own.copy()
            if is_root:
                check("reduce", own, out, op, root, out=out, wanted=total)
                check("reduce", goal.IN_PLACE, place, op, root, out=place, wanted=total)
            else:
                check("reduce", own, None, op, root)
                check("reduce", own, place, op, root, out=place, wanted=own)
        gathered = np.full((size, count), -1)
        check("allgather", own, gathered, out=gathered, wanted=every)
        place = gathered.copy()
        place[rank] = own
        check("allgather", None, place, out=place, wanted=every)
        if is_root:
            check("gather", own, gathered, root, out=gathered, wanted=every)
            check("gather", goal.IN_PLACE, place, root, out=place, wanted=every)
            check("scatter", every, out, root, out=out, wanted=every[rank])
            whole = every.copy()
            check("scatter", whole, goal.IN_PLACE, root, out=whole, wanted=every)
        else:
            for _ in range(2):
                check("gather", own, None, root)
            for _ in range(2):
                check("scatter", None, out, root, out=out, wanted=every[rank])
        blocks = inputs(comm, (size, count))
        check("alltoall", blocks[rank], gathered, out=gathered, wanted=blocks[:, rank])
        place = blocks[rank].copy()
        check("alltoall", goal.IN_PLACE, place, out=place, wanted=blocks[:, rank])
        check("reduce_scatter", blocks[rank], out, out=out, wanted=blocks.sum(axis=0)[rank])
        place = blocks[rank].copy()
        schedule = group.reduce_scatter_init(goal.IN_PLACE, place, comm=comm)
        schedule.run().wait()
        assert (place[0] == blocks.sum(axis=0)[rank]).all()


def others(group):
    """Other types, larger outputs, and elements of none."""
    for kind in "bhlqBHLQfd":
        every = inputs(group, (5,), kind)
        out = np.full(9, 99, kind)
        group.allreduce(every[group.rank], out, "max")
        assert (out[:5] == every.max(axis=0)).all() and (out[5:] == 99).all()
    words = np.array([complex(group.rank, 1)] * 2)
    both = np.zeros((group.size, 2), complex)
    group.allgather(words, both)
    assert (both[:, 0].real == np.arange(group.size)).all() and (both.imag == 1).all()
    group.allreduce(np.zeros(0), np.zeros(0))
    group.allgather(b"", bytearray())


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    on(group, group.world)
    on(group, group.communicator(list(reversed(range(group.size)))))
    even = list(range(0, group.size, 2))
    if group.rank in even:
        on(group, group.communicator(even))
    others(group)
print("done")
