"""Every rank waits for what never comes."""

import numpy as np

import goal

with goal.init() as group:
    graph = group.graph()
    graph.recv(np.zeros(1), group.rank, tag=9)
    run = graph.compile().run()
    if group.rank == 0:
        group.barrier()
    run.wait()
