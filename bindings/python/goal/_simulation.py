"""Simulations: when each rank of a program ends on a LogGOPS machine, and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from . import _goal
from ._goal import Graph, Schedule

if TYPE_CHECKING:
    import numpy

__all__ = ["Simulation", "sim"]

Part = Union[str, Graph, Schedule]
Program = Union[Part, "os.PathLike[str]", bytes, Iterable[Part]]
Machine = Union[str, "os.PathLike[str]", Mapping[str, float], None]

# The fields of a step, as the native part writes them.
_STEP = [
    ("rank", "=i8"),
    ("action", "=i8"),
    ("line", "=i8"),
    ("kind", "=U5"),
    ("work", "=U7"),
    ("cost", "=U4"),
    ("start", "=f8"),
    ("end", "=f8"),
    ("units", "=i8"),
    ("partner_rank", "=i8"),
    ("partner", "=i8"),
]


@dataclass(frozen=True, eq=False)
class Simulation:
    """The times of a program on a machine. Times are nanoseconds.

    ``finish`` is an array with the end of each rank. ``path`` is an array of the steps of the
    critical path, and ``sensitivity`` has the derivatives of the time by the parameters, as
    ``sensitivity["L"]``. Both are None without a path. ``events`` is the number of actions that
    were started and of messages that were taken in. ``model`` names the rules of time, and
    ``machine`` has the parameters.

    The fields of a step are ``rank``, ``action`` (its number on the rank), ``line`` (0 if it is not
    known), ``kind`` (``"send"``, ...), ``work`` (``"compute"``, ``"send"``, ``"travel"``,
    ``"receive"`` or ``"release"``), ``cost`` (the letter of a parameter, or ``"calc"``), ``start``,
    ``end``, ``units`` (the multiple of the parameter), and ``partner_rank`` and ``partner``, the
    other action of a message, or -1.
    """

    finish: numpy.ndarray[Any, Any]
    path: numpy.ndarray[Any, Any] | None
    sensitivity: dict[str, int] | None
    events: int
    model: str
    machine: dict[str, float]


def _source(program: Program) -> Any:
    """Returns what the native part takes: named texts, a path, or bytes."""
    if isinstance(program, (bytes, os.PathLike)):
        return program
    if isinstance(program, str) and not any(character.isspace() for character in program):
        return program
    parts = [program] if isinstance(program, (str, Graph, Schedule)) else list(program)
    texts = [part if isinstance(part, str) else part.text() for part in parts]
    return [(f"text {number}", text) for number, text in enumerate(texts)]


def sim(
    program: Program, machine: Machine = None, *, path: bool = True, **parameters: float
) -> Simulation:
    """Simulates all ranks of a program on a LogGOPS machine, as ``goal-sim`` does.

    ``program`` is a text, a graph or a schedule (the text of this rank), or a list of these, which
    together are one program. It may also be a file in any form that ``goalc`` reads, as a path or
    as bytes. A string without white space is a path.

    ``machine`` is a dict of parameters, or the path of a machine file. Keywords override it:
    ``L``, ``o``, ``g``, ``G`` and ``O`` in nanoseconds, and ``S`` in bytes. What neither has is as
    in ``goal-sim``; what a file leaves out is as on one host.

    ``path=False`` leaves the critical path out, which saves time and memory. Other threads run
    meanwhile. Raises Error with the report if the program is wrong or gets stuck
    (``GOAL_ERR_STUCK``), and ValueError if a parameter is wrong.
    """
    import numpy

    file = None
    if isinstance(machine, (str, os.PathLike)):
        file = os.fspath(machine)
    elif machine is not None:
        parameters = {**machine, **parameters}
    finish, found, events, used = _goal._simulate(
        _source(program), file, list(parameters.items()), path
    )
    steps = None if found is None else numpy.frombuffer(found[0], numpy.dtype(_STEP))
    return Simulation(
        finish=numpy.frombuffer(finish, float),
        path=steps,
        sensitivity=None if found is None else dict(found[1]),
        events=events,
        model="goal",
        machine=dict(used),
    )
