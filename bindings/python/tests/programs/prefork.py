"""A process that has imported the package, and not joined a group, leaves that to its child."""

import os

import numpy as np

import goal

child = os.fork()
if child != 0:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    raise SystemExit(status)
with goal.init() as group:
    total = np.zeros(1)
    group.allreduce(np.ones(1), total)
    assert total[0] == group.size
print("done")
