"""Arrays stay where they are as long as a graph, a schedule or a run may use them."""

import ctypes
import gc
import sys
import time
import weakref

import numpy as np

import goal
from late import late


class Array(np.ndarray):
    """An array that can be watched."""


def watched(value):
    array = np.full(4, value).view(Array)
    return array, weakref.ref(array)


def kept(group):
    """The graph keeps an array, then the schedule, then the run."""
    array, watch = watched(1.0)
    out = np.zeros(4)
    graph = group.graph()
    graph.send(array, group.rank)
    graph.recv(out, group.rank)
    del array
    gc.collect()
    assert watch() is not None
    schedule = graph.compile()
    del graph
    gc.collect()
    assert watch() is not None
    run = schedule.run()
    del schedule
    gc.collect()
    run.wait()
    assert (out == 1).all()
    del run
    gc.collect()
    assert watch() is None


def dropped(group):
    """A run that nobody waits for goes on, and keeps its arrays until it has ended."""
    array, watch = watched(3.0)
    view = array.view(np.ndarray)

    def meanwhile(schedule, run):
        nonlocal array
        del array
        gc.collect()
        assert watch() is not None

    run = late(group, array, 8.0, meanwhile)
    if group.rank % 2 or run is None:
        group.barrier()
        group.barrier()
        return
    del run
    # Calls make progress, and notice the end; in mode `thread`, a thread does.
    group.barrier()
    group.barrier()
    assert (view == 8).all()
    del view
    while watch() is not None:
        time.sleep(0.001)
        gc.collect()


def locked(group):
    """Nothing resizes an array meanwhile."""
    raw, numbers = bytearray(16), np.zeros(4)
    graph = group.graph()
    graph.copy(raw, np.zeros(2))
    graph.copy(numbers, np.zeros(4))
    schedule = graph.compile()
    del graph
    for resize in (lambda: raw.extend(b"more"), lambda: numbers.resize(400)):
        try:
            resize()
            raise AssertionError("it was resized")
        except (BufferError, ValueError):
            pass
    schedule.run().wait()
    del schedule
    gc.collect()
    raw.extend(b"more")


def moved(group):
    """An array that was moved by force is not used where it was."""
    for array, resize in (
        (np.zeros(4), lambda array: array.resize(100_000, refcheck=False)),
        ((ctypes.c_char * 8)(), lambda array: ctypes.resize(array, 100_000)),
    ):
        graph = group.graph()
        graph.copy(array, bytearray(memoryview(array).nbytes))
        schedule = graph.compile()
        schedule.run().wait()
        resize(array)
        try:
            schedule.run()
            raise AssertionError("it ran")
        except goal.Error as error:
            assert error.code == "GOAL_ERR_BUFFER" and "resized or moved" in str(error), error


def many(group):
    """A graph exports an array once, however often its actions name it."""
    array = np.zeros(4)
    before = sys.getrefcount(array)
    graph = group.graph()
    for _ in range(1000):
        graph.copy(array[:], array)
        graph.copy(array, array)
    assert sys.getrefcount(array) < before + 1100
    graph.compile().run().wait()


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    for part in (kept, locked, moved, many, dropped):
        part(group)
print("done")
