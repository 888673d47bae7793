"""Runs as awaitables of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from ._goal import Run


def steps(run: Run, has_thread: bool) -> Generator[Any, None, None]:
    """Waits for a run in a coroutine.

    If a thread makes progress (mode ``thread``), it wakes the loop when the run has ended.
    Otherwise each turn of the loop makes some.
    """
    if has_thread and not run.test():
        loop = asyncio.get_running_loop()
        ended = loop.create_future()

        def wake() -> None:
            if not ended.done():
                ended.set_result(None)

        def notify() -> None:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:
                pass  # The loop is closed: nobody waits any more.

        run.when_ended(notify)
        yield from ended
    while not run.test():
        yield
