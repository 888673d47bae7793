"""A forked child compiles and checks programs, as its parent has before."""

import multiprocessing
import os

import goal

SMALL = "num_ranks 2 rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }"
LARGE = "num_ranks 2\n" + "".join(
    f"rank {rank} {{\n" + "".join(f"label{i}: calc {1000000 + i}\n" for i in range(30000)) + "}\n"
    for rank in range(2)
)


def work(_=None):
    compiled = [goal.compile_text(text) for text in (SMALL, LARGE)]
    return compiled, goal.check(LARGE)


expected = work()
child = os.fork()
if child == 0:
    os._exit(work() != expected)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(2)) == [expected] * 2
print("done")
