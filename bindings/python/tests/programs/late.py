"""A run that can't end before the program says so: half of the ranks wait for the other half."""

import numpy as np


def late(group, array, value, meanwhile=lambda schedule, run: None):
    """An even rank starts a receive into `array`, calls `meanwhile`, and only then lets the rank
    above it send `value`. Returns the run; None for a rank without a partner."""
    base = group.rank - group.rank % 2
    if base + 1 == group.size:
        return None
    both = [base, base + 1]
    pair, order = group.communicator(both), group.communicator(both)
    graph = group.graph(pair)
    if group.rank == base:
        graph.recv(array, 1)
        schedule = graph.compile()
        run = schedule.run()
        assert not run.test()
        meanwhile(schedule, run)
        group.barrier(comm=order)
        return run
    graph.send(np.full_like(array, value), 0)
    group.barrier(comm=order)
    return graph.compile().run()
