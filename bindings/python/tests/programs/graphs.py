"""Graphs over numpy arrays and other buffers, compared with numpy."""

import array
import sys

import numpy as np

import goal


def ring(group):
    """Each rank adds its number to the sum of the ranks before it, and passes it on."""
    rank, size = group.rank, group.size
    own, total = np.array([float(rank)]), np.zeros(1)
    graph = group.graph()
    passed = graph.scratch(8)
    if rank == 0:
        ready = graph.copy(own, total)
    else:
        got = graph.recv(passed, rank - 1)
        ready = graph.op("sum", passed, own, total, after=got)
    if rank + 1 < size:
        graph.send(total, rank + 1, after=[ready])
    schedule = graph.compile()
    for times in range(1, 6):
        if times == 3:
            why = schedule.link()
            assert (why is None) == (size > 1), why
        own[0] = rank * times
        schedule.run().wait()
        assert total[0] == times * sum(range(rank + 1))
    assert len(graph) == schedule.actions and schedule.algorithm is None


def exchange(group):
    """Messages of several pieces between neighbours, through buffers of several kinds."""
    right, left = (group.rank + 1) % group.size, (group.rank - 1) % group.size
    numbers = np.arange(10, dtype=np.int32) + 100 * group.rank
    matrix = np.zeros((2, 3), dtype=np.int32)
    words, some = array.array("i", [0] * 2), bytearray(4)
    graph = group.graph()
    part = graph.scratch(16)
    assert len(part) == 16 and len(part[4:12]) == 8 and len(part[4:12][2:]) == 6
    send = graph.send([numbers[2:4], numbers[6:], b"\x07\x00\x00\x00"], right, tag=5)
    recv = graph.recv((matrix, some), source=left, tag=goal.ANY)
    read = graph.copy(matrix[1], part[:12], after=recv)
    graph.copy(part[4:12], words, after=read)
    late = graph.nop(after=[send, recv, read])
    graph.requires(before=send, after=read)
    graph.requires_start(send, late)
    assert send != recv and send == send and late.index == 4 and len({send, recv}) == 2
    graph.compile().run().wait()
    sent = [2, 3, 6, 7, 8, 9]
    assert (matrix.ravel() == np.array(sent) + 100 * left).all(), matrix
    assert list(words) == [8 + 100 * left, 9 + 100 * left]
    assert some == b"\x07\x00\x00\x00"


def operations(group):
    """Every operation and type that numpy has too."""
    same = {
        "max": np.maximum,
        "min": np.minimum,
        "sum": np.add,
        "prod": np.multiply,
        "sub": np.subtract,
        "band": np.bitwise_and,
        "bor": np.bitwise_or,
        "bxor": np.bitwise_xor,
        "land": np.logical_and,
        "lor": np.logical_or,
        "lxor": np.logical_xor,
    }
    for kind in "bhilqBHILQfd":
        for name, function in same.items():
            if kind in "fd" and name in ("band", "bor", "bxor"):
                continue
            a, b = np.arange(8).astype(kind), np.array([3, 0, 2, 9, 4, 1, 0, 7]).astype(kind)
            out = np.zeros(8, kind)
            graph = group.graph()
            graph.op(name, a, b, out)
            graph.compile().run().wait()
            assert (out == function(a, b).astype(kind)).all(), (kind, name)
    # In place, and truth values.
    a = np.arange(4.0)
    flags = np.array([True, False, True, False])
    graph = group.graph()
    first = graph.op("sum", a, a, a)
    graph.op("div", a, np.full(4, 2.0), a, after=first)
    graph.op("lor", flags, np.roll(flags, 1), flags[:])
    graph.compile().run().wait()
    assert (a == np.arange(4.0)).all() and flags.all()
    # The type is given if no buffer has it.
    raw = bytearray(np.array([1.5, 2.5]).tobytes())
    for dtype in ("float64", np.float64, np.dtype(np.float64)):
        graph = group.graph()
        graph.op("sum", raw, raw, raw, dtype=dtype)
        graph.compile().run().wait()
    assert np.frombuffer(raw).tolist() == [12.0, 20.0]


def time(group):
    """The time does not run backwards."""
    times = np.zeros(2)
    graph = group.graph()
    graph.wtime(times[1:], after=graph.wtime(times[:1]))
    graph.compile().run().wait()
    assert 0 < times[0] <= times[1]


def communicators(group):
    """Messages of two communicators do not meet."""
    backwards = group.communicator(list(reversed(range(group.size))))
    assert backwards.size == group.size and backwards.rank == group.size - 1 - group.rank
    assert backwards.ranks == list(reversed(range(group.size))) and group.world.rank == group.rank
    if group.rank > 1:
        return
    pair = group.communicator(range(min(group.size, 2)))
    own, got = np.array([group.rank]), np.array([-1])
    graph = group.graph(pair)
    other = (pair.rank + 1) % pair.size
    graph.send(own, other)
    graph.recv(got, other)
    graph.compile().run().wait()
    assert got[0] == other


def text(group):
    """The text of all ranks together is a program, which the checks accept or complain about."""
    data = np.zeros(3, np.int16)
    graph = group.graph()
    graph.send(data, 0, tag=2)
    if group.rank == 0:
        for rank in range(group.size):
            graph.recv(np.zeros(3, np.int16), rank, tag=2)
    schedule = graph.compile()
    for own in (graph.text(), schedule.text()):
        assert f"num_ranks {group.size}\n" in own and ",6 to 0 tag 2" in own, own
        size = np.zeros(1, np.int64)
        group.allreduce(np.array([len(own)]), size, op="max")
        mine = np.frombuffer(own.ljust(size[0]).encode(), np.uint8)
        all_texts = np.zeros((group.size, size[0]), np.uint8)
        group.allgather(mine, all_texts)
        texts = [bytes(row).decode() for row in all_texts]
        assert goal.check(texts) == [], goal.check(texts)
        wrong = [found["kind"] for found in goal.check(texts[:-1])]
        assert group.size == 1 or "unmatched-recv" in wrong, wrong
    schedule.run().wait()


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    assert mode is None or group.progress == mode
    for part in (ring, exchange, operations, time, communicators, text):
        part(group)
print("done")
