"""Group communication as dependency graphs, over numpy arrays and other buffers.

A program with this package is started by ``goal-run -n 4 python3 program.py``, on one host or on
several; without a launcher it is a group of one.

>>> import goal, numpy
>>> with goal.init() as group:
...     values = numpy.full(4, float(group.rank))
...     total = numpy.zeros(4)
...     group.allreduce(values, total, op="sum")

``Group.graph`` makes a graph of messages and local operations; ``Graph.compile`` a ``Schedule`` of
it; ``Schedule.run`` starts a ``Run``, which ``wait``, ``test`` and ``await`` bring to its end while
the program computes. While a run uses an array, the program must not touch it.
"""

from __future__ import annotations

import atexit

from . import _goal
from ._error import Error
from ._goal import (
    ANY,
    ERROR_CODES,
    OPERATIONS,
    Communicator,
    Graph,
    Run,
    Schedule,
    Scratch,
    Vertex,
    compile_text,
    is_finalized,
    is_initialized,
    load,
)
from ._group import IN_PLACE, Group, InPlace, init
from ._program import check
from ._simulation import Simulation, sim

__all__ = [
    "ANY",
    "ERROR_CODES",
    "IN_PLACE",
    "OPERATIONS",
    "Communicator",
    "Error",
    "Graph",
    "Group",
    "InPlace",
    "Run",
    "Schedule",
    "Scratch",
    "Simulation",
    "Vertex",
    "check",
    "compile_text",
    "init",
    "is_finalized",
    "is_initialized",
    "load",
    "sim",
]

atexit.register(_goal._close)
