"""Misuse raises goal.Error with a code and a text, and changes nothing."""

import os
import pickle
import sys
import threading

import numpy as np

import goal
from late import late

mode = None if sys.argv[1] == "none" else sys.argv[1]


def raises(code, part, call):
    try:
        call()
    except goal.Error as error:
        assert error.code == "GOAL_ERR_" + code, (error.code, str(error))
        assert part in str(error), str(error)
        assert "GOAL_" not in str(error), str(error)
        return error
    raise AssertionError(f"no error: {part}")


def raises_type(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(f"no {kind}")


def graphs(group):
    size, rank = group.size, group.rank
    one, fixed = np.zeros(4), np.zeros(4)
    fixed.setflags(write=False)
    graph = group.graph()
    raises("RANK", f"rank {size}", lambda: graph.send(one, size))
    raises("RANK", "rank -1", lambda: graph.recv(one, -1))
    raises("TAG", "tag -5", lambda: graph.send(one, 0, -5))
    raises("TAG", "largest tag", lambda: graph.send(one, 0, goal.ANY))
    raises("BUFFER", "int and exports no memory", lambda: graph.send(5, 0))
    raises("BUFFER", "piece 1 of data", lambda: graph.send([one, None], 0))
    raises("BUFFER", "written", lambda: graph.recv(b"fixed", 0))
    error = raises("BUFFER", "read-only", lambda: graph.recv(fixed, 0))
    assert error.__cause__ is not None
    raises("BUFFER", "not contiguous", lambda: graph.send(np.zeros((4, 4))[:, 1], 0))
    raises("BUFFER", "not contiguous", lambda: graph.send(np.zeros((4, 4)).T, 0))
    raises("OP", "no operation", lambda: graph.op("mean", one, one, one))
    raises("OP", "", lambda: graph.op("band", one, one, one))
    flags = np.zeros(4, bool)
    raises("OP", "truth values", lambda: graph.op("sum", flags, flags, flags))
    raises("DATATYPE", "loat32", lambda: graph.op("sum", one, one.astype("f"), one))
    swapped = one.astype(one.dtype.newbyteorder())
    raises("DATATYPE", "order", lambda: graph.op("sum", swapped, swapped, swapped))
    raises("DATATYPE", "dtype", lambda: graph.op("sum", *[graph.scratch(8)] * 3))
    raises("DATATYPE", "no type", lambda: graph.op("sum", one, one, one, dtype="int128"))
    raises("COUNT", "", lambda: graph.op("sum", one, one[:2], one))
    raises("BUFFER", "overlap", lambda: graph.op("sum", one[:2], one[1:3], one[:2]))
    raises("ARG", "copy", lambda: graph.op("copy", one, one, one))
    raises("COUNT", "8 bytes", lambda: graph.wtime(one))
    raises("BUFFER", "another graph", lambda: graph.send(group.graph().scratch(8), 0))
    raises("COUNT", "-1 bytes", lambda: graph.scratch(-1))
    raises_type(IndexError, lambda: graph.scratch(8)[::2])
    assert len(graph) == 0, "a wrong call adds nothing"
    first, other = graph.nop(), group.graph().nop()
    raises("VERTEX", "another graph", lambda: graph.nop(after=other))
    raises("VERTEX", "another graph", lambda: graph.requires(first, other))
    raises("GRAPH", "itself", lambda: graph.requires(first, first))
    raises_type(TypeError, lambda: graph.nop(after=[5]))
    assert len(graph) == 1, "a wrong call adds nothing"
    second = graph.nop(after=first)
    graph.requires(second, first)
    raises("GRAPH", "", graph.compile)
    # A run writes what another one of the same schedule writes.
    def meanwhile(schedule, run):
        raises("BUSY", "Run.wait", schedule.run)
        raises("BUSY", "Run.wait", group.finalize)

    run = late(group, one, 1.0, meanwhile) or group.ibarrier(comm=group.communicator([rank]))
    run.wait()
    assert rank % 2 == 1 or rank + 1 == size or one.sum() == 4
    raises_type(TypeError, goal.Run)
    raises_type(TypeError, goal.Schedule)
    raises_type(TypeError, lambda: goal.Graph(5))
    raises("ARG", "called", lambda: run.when_ended(5))


def collectives(group):
    size, rank = group.size, group.rank
    one, two = np.zeros(4), np.zeros(2)
    raises("BUFFER", "recv has 16 bytes", lambda: group.allreduce(one, two))
    raises("BUFFER", "recv has 16 bytes", lambda: group.iallgather(one, two))
    raises("BUFFER", "in common", lambda: group.allreduce(one, one))
    raises("BUFFER", "every rank", lambda: group.allreduce(one, None))
    raises("RANK", f"root is rank {size}", lambda: group.bcast(one, size))
    raises("RANK", "root is rank -1", lambda: group.bcast(one, -1))
    raises("OP", "", lambda: group.allreduce(one, one.copy(), "sub"))
    raises("OP", "no operation", lambda: group.scan(one, one.copy(), "mean"))
    raises("DATATYPE", "", lambda: group.allreduce(one, np.zeros(4, np.int64)))
    raises("DATATYPE", "", lambda: group.allgather(one, np.zeros(4 * size, np.float32)))
    raises("DATATYPE", "", lambda: group.allreduce(np.zeros(2, complex), np.zeros(2, complex)))
    raises("BUFFER", "written", lambda: group.bcast(b"fixed"))
    if rank == 0:
        raises("BUFFER", "the root gives an array as recv", lambda: group.reduce(one))
        raises("BUFFER", "the root gives an array as send", lambda: group.scatter(None, one))
    else:
        raises("BUFFER", "not the root", lambda: group.gather(None, one))
        raises("BUFFER", "not the root", lambda: group.scatter(one, None))
    if size > 1:
        odd = np.zeros(size + 1)
        raises("COUNT", "blocks", lambda: group.alltoall(odd, odd.copy()))
        raises("RANK", "own rank", lambda: group.communicator([(rank + 1) % size]))
    raises("RANK", "twice", lambda: group.communicator([rank, rank]))


def files(group):
    raises("FILE", "", lambda: goal.load(b"nothing"))
    raises("FILE", "/nowhere", lambda: goal.load("/nowhere/at.nisa"))
    raises("FILE", "G0002", lambda: goal.compile_text("a requires b"))
    nisa = goal.compile_text(f"num_ranks {group.size + 1} rank * {{ a: nop }}")
    raises("FILE", f"{group.size + 1} ranks", lambda: goal.load(nisa))
    nisa = goal.compile_text(f"num_ranks {group.size} rank * {{ init 60 = Int32 1 }}")
    raises("BUFFER", "64 bytes", lambda: goal.load(nisa, memory=bytearray(8)))


def fork(group):
    """A child must not use the rank of its parent."""
    schedule = group.barrier_init()
    child = os.fork()
    if child == 0:
        try:
            raises("INIT", "fork", schedule.run)
            raises("INIT", "fork", group.graph)
            raises("INIT", "fork", group.finalize)
            del schedule
            os._exit(7)
        finally:
            os._exit(8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    schedule.run().wait()


raises("INIT", "goal.init", goal.Graph)
raises("INIT", "goal.init", goal.Communicator)
raises("ARG", "no mode", lambda: goal.init(progress="magic"))
assert not goal.is_initialized()
group = goal.init(progress=mode)
assert goal.is_initialized() and not goal.is_finalized()
raises("INIT", "already", goal.init)
error = raises("RANK", "", lambda: group.graph().send(b"", 99))
again = pickle.loads(pickle.dumps(error))
assert (str(again), again.code) == (str(error), error.code)
assert error.code in goal.ERROR_CODES and goal.Error("text").code == "GOAL_ERR_ARG"
graphs(group)
collectives(group)
files(group)
fork(group)
thread = threading.Thread(target=lambda: graphs(group))
thread.start()
thread.join()
schedule = group.barrier_init()
group.finalize()
raises("FINALIZED", "finalized", schedule.run)
raises("FINALIZED", "finalized", group.graph)
raises("FINALIZED", "finalized", group.finalize)
raises("FINALIZED", "start again", goal.init)
print("done")
