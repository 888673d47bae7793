"""Schedules from text: compiled, loaded from a file and from bytes, with memory and without."""

import os
import pathlib
import sys
import tempfile

import numpy as np

import goal

RING = """
num_ranks {size}
rank * {{ init 0 = Int32 20 }}
{blocks}
"""
BLOCK = """
rank {rank} {{
  s: send 0,4 to {right}
  r: recv 4,4 from {left}
  x: exec sumInt32 with 0,4 4,4
  x requires r
  expect 4 = Int32 40
}}
"""


def ring(size):
    blocks = [
        BLOCK.format(rank=rank, right=(rank + 1) % size, left=(rank - 1) % size)
        for rank in range(size)
    ]
    return RING.format(size=size, blocks="".join(blocks))


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    text = ring(group.size)
    assert goal.check(text) == []
    nisa = goal.compile_text(text)
    assert nisa == goal.compile_text(text, check=False)
    memory = np.array([7, -1], np.int32)
    goal.load(nisa, memory=memory).run().wait()
    assert memory.tolist() == [7, 14], memory
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ring.nisa"
        path.write_bytes(nisa)
        backwards = group.communicator(list(reversed(range(group.size))))
        for file in (path, os.fspath(path)):
            memory[:] = [3, -1]
            schedule = goal.load(file, backwards, memory)
            schedule.run().wait()
            assert memory.tolist() == [3, 6]
    own = goal.load(nisa)
    own.run().wait()
    assert own.actions == 3 and "sumInt32" in own.text(), own.text()
    # A file calls only functions that the program names.
    seen = []
    number = group.register(lambda a, b: seen.append(bytes(a)))
    calls = f"rank * {{ init 0 = UInt8 7\nexec user {number} with 0,1 1,1 }}"
    nisa = goal.compile_text(f"num_ranks {group.size}\n{calls}")
    try:
        goal.load(nisa)
        raise AssertionError("it calls a function")
    except goal.Error as error:
        assert error.code == "GOAL_ERR_OP" and "functions of goal.load" in str(error), error
    goal.load(nisa, functions=[number]).run().wait()
    assert seen == [b"\x07"], seen
    # Findings: a message without a receive, as a graph of this rank and as text.
    graph = group.graph()
    graph.send(np.zeros(2), group.rank, 8)
    for program in (graph, graph.compile(), graph.text(), [graph.text()]):
        errors = [found for found in goal.check(program) if found["severity"] == "error"]
        assert [found["code"] for found in errors] == ["G0302"], errors
        assert errors[0]["file"] == "text 0" and errors[0]["line"] >= 1
    syntax = goal.check("rank 0 { send }")
    assert syntax[0]["severity"] == "error" and syntax[0]["column"] >= 1
    assert goal.check([]) == goal.check("")
print("done")
