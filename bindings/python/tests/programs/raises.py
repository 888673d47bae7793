"""Rank 1 raises, and the others wait for it."""

import goal

with goal.init() as group:
    if group.rank == 1:
        raise ValueError("rank 1 gives up")
    group.barrier()
