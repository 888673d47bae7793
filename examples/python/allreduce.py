"""An allreduce on numpy arrays: by hand, and by one call.

Start it with `goal-run -n 4 python3 examples/python/allreduce.py`; it runs alone too.
"""

import numpy as np

import goal


def recursive_doubling(group, values, total):
    """Returns the schedule of an allreduce by recursive doubling: in each round, a rank exchanges
    sums with the one whose number differs in one bit. Ranks above the largest power of two give
    their values to a partner before the rounds, and get the total after them."""
    rank, size = group.rank, group.size
    power = 1 << (size.bit_length() - 1)
    graph = group.graph()
    last = graph.copy(values, total)
    if rank >= power:
        given = graph.send(total, rank - power, tag=1, after=last)
        graph.recv(total, rank - power, tag=2, after=given)
        return graph.compile()
    if rank + power < size:
        other = graph.scratch(total.nbytes)
        got = graph.recv(other, rank + power, tag=1)
        last = graph.op("sum", other, total, total, after=[got, last])
    bit = 1
    while bit < power:
        other = graph.scratch(total.nbytes)
        sent = graph.send(total, rank ^ bit, after=last)
        got = graph.recv(other, rank ^ bit)
        last = graph.op("sum", other, total, total, after=[sent, got])
        bit *= 2
    if rank + power < size:
        graph.send(total, rank + power, tag=2, after=last)
    return graph.compile()


with goal.init() as group:
    every = np.arange(group.size * 1000.0).reshape(group.size, 1000)
    wanted = every.sum(axis=0)
    values = every[group.rank].copy()

    by_hand = np.zeros_like(values)
    schedule = recursive_doubling(group, values, by_hand)
    for _ in range(3):  # A schedule runs any number of times.
        run = schedule.run()
        # The program computes here.
        run.wait()

    by_call = np.zeros_like(values)
    group.allreduce(values, by_call, op="sum")

    assert np.array_equal(by_hand, wanted) and np.array_equal(by_call, wanted)
    print(f"rank {group.rank} of {group.size}: both sums are equal to numpy's")
