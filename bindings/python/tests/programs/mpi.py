"""The processes of MPI.COMM_WORLD are the ranks, and MPI goes on beside them."""

import goal
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
with goal.init(among=world) as group:
    assert (group.rank, group.size) == (world.rank, world.size)
    values, total = np.full(1000, float(group.rank)), np.zeros(1000)
    group.allreduce(values, total, op="sum")
    assert (total == world.allreduce(group.rank)).all()
print("done", flush=True)
