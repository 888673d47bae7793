"""Functions of the program as local operations, computations, and arrays in shared memory."""

import gc
import sys
import threading

import numpy as np

import goal


def then(a, b):
    """Permutations: b = a then b. Associative, and does not commute."""
    first, second = (np.frombuffer(view, np.int64).reshape(-1, 4) for view in (a, b))
    second[...] = np.take_along_axis(second, first, axis=1)


def permutation(rank):
    return np.random.default_rng(rank).permutation(4)


def collectives(group):
    number = group.register(then)
    assert group.register(then) == number
    own = np.array([permutation(group.rank), permutation(group.rank + 100)])
    totals = np.array([np.arange(4), np.arange(4)])
    before = None
    for rank in range(group.size):
        if rank == group.rank:
            before = totals.copy()
        totals = np.array(
            [permutation(rank)[totals[0]], permutation(rank + 100)[totals[1]]]
        )
    # Blocks of elements are cut at any element, so a whole permutation is one rank's whole block.
    for at in range(2):
        out = np.zeros(4, np.int64)
        schedule = group.scan_init(own[at].copy(), out, number)
        for _ in range(2):
            schedule.run().wait()
        assert (out == own[at][before[at]]).all()
        group.reduce(own[at].copy(), out, number, 0)
        assert group.rank != 0 or (out == totals[at]).all()


def graphs(group):
    calls = []

    def double(a, b):
        calls.append((len(a), threading.get_ident()))
        np.frombuffer(b, np.int32)[...] = 2 * np.frombuffer(a, np.int32)

    number = group.register(double)
    a, b = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    right, left = (group.rank + 1) % group.size, (group.rank - 1) % group.size
    got = np.zeros(8, np.int32)
    graph = group.graph()
    waited = graph.calc(1000)
    doubled = graph.call(number, a, b, after=waited)
    graph.send(b, right, after=doubled)
    graph.recv(got, left)
    schedule = graph.compile()
    for run in range(3):
        got[...] = 0
        schedule.run().wait()
        assert (got == 2 * np.arange(8)).all()
        assert len(calls) == run + 1 and calls[run][0] == 32


def faults(group):
    kept = []

    def raises(a, b):
        b[0] = 7
        raise ValueError("no such matrix")

    def calls(a, b):
        goal.Graph()

    def keeps(a, b):
        kept.append(b)

    def drops(a, b):
        """Drops a schedule and a run while the rank's end is locked."""
        holder.clear()
        gc.collect()

    holder = [group.barrier_init()]
    a, b = bytearray(8), bytearray(8)
    for function, error in [(raises, ValueError), (calls, goal.Error), (keeps, None), (drops, None)]:
        graph = group.graph()
        graph.call(group.register(function), a, b)
        run = graph.compile().run()
        try:
            run.wait()
        except (ValueError, goal.Error) as raised:
            assert error and isinstance(raised, error), raised
            assert "no such matrix" in str(raised) or "can't call this package" in str(raised)
        else:
            assert error is None, function
        run.wait()
        assert b == bytes(8)
    # A function keeps a copy of the array.
    kept[0][0] = 9
    assert b[0] == 0
    for wrong in (-1, 1000):
        try:
            group.graph().call(wrong, a, b)
        except goal.Error as raised:
            assert raised.code == "GOAL_ERR_ARG"
        else:
            raise AssertionError("there is no such function")


def shared(group):
    for dtype, shape in [(float, 5), (np.int32, (3, 4)), ("uint8", (0, 7)), (complex, ())]:
        array = group.zeros(shape, dtype)
        assert array.dtype == np.dtype(dtype) and (array == 0).all()
        assert array.shape == np.zeros(shape).shape and array.flags.writeable
    large = group.empty(100_000)
    large[...] = group.rank
    total = group.zeros(100_000)
    schedule = group.allreduce_init(large, total)
    del large
    gc.collect()
    for _ in range(2):
        schedule.run().wait()
    assert (total == sum(range(group.size))).all()
    del schedule
    # The memory comes back with the last array.
    for _ in range(4096):
        part = group.empty(1 << 22, "uint8")[5:9]
        part[...] = 1
    try:
        group.empty(1 << 60, "uint8")
    except goal.Error as raised:
        assert raised.code == "GOAL_ERR_MEMORY"
    else:
        raise AssertionError("there is no such room")
    try:
        group.zeros(3, object)
    except TypeError:
        return total
    raise AssertionError("objects can't be shared")


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    collectives(group)
    graphs(group)
    faults(group)
    last = shared(group)
# The memory is there after the end.
assert (last == sum(range(group.size))).all()
print("done")
