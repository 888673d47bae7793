"""Whole programs: the checks of all ranks together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Union

from . import _goal
from ._goal import Graph, Schedule

Part = Union[str, Graph, Schedule]


def check(program: Part | Iterable[Part]) -> list[dict[str, Any]]:
    """Checks a program: all of its ranks together.

    ``program`` is a text, a graph or a schedule (the text of this rank), or a list of these, which
    together are one program. Finds deadlocks, messages without a receive, sizes that differ, races
    and the like; see ``docs/errors``.

    Returns the findings, those of ``goalc check --format json``: ``code``, ``kind``, ``severity``
    (``"error"`` or ``"warning"``), ``message``, ``file`` (``"text 0"``, ...), ``line``,
    ``column``, ``spans``, and where there is one a ``note``, a ``help`` or a ``fix``. Lines and
    columns count from 1. An empty list: nothing was found.

    Raises Error if the check itself can't be done.
    """
    parts = [program] if isinstance(program, (str, Graph, Schedule)) else list(program)
    texts = [part if isinstance(part, str) else part.text() for part in parts]
    named = [(f"text {number}", text) for number, text in enumerate(texts)]
    return [json.loads(line) for line in _goal._check_texts(named).splitlines()]
