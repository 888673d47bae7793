"""Runs in asyncio: several at a time, with other tasks beside them."""

import asyncio
import sys

import numpy as np

import goal
from late import late


async def exchange(group, tag):
    """Sends a number around the ring."""
    right, left = (group.rank + 1) % group.size, (group.rank - 1) % group.size
    own, got = np.array([group.rank * 10 + tag]), np.array([-1])
    graph = group.graph()
    graph.send(own, right, tag)
    graph.recv(got, left, tag)
    run = graph.compile().run()
    await run
    assert run.test() and got[0] == left * 10 + tag
    await run


async def main(group):
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(tick())
    for _ in range(20):
        await asyncio.gather(*(exchange(group, tag) for tag in range(3)))
    total = np.zeros(1)
    await group.iallreduce(np.ones(1), total)
    assert total[0] == group.size and ticks > 0
    # A task that is cancelled leaves its run, which can be awaited again.
    got, cancelled = np.zeros(1), None

    def meanwhile(schedule, run):
        nonlocal cancelled
        cancelled = asyncio.ensure_future(run)

    run = late(group, got, 5.0, meanwhile)
    await asyncio.sleep(0)
    if cancelled:
        cancelled.cancel()
        await asyncio.wait([cancelled])
    if run:
        await run
        assert group.rank % 2 or got[0] == 5
    other.cancel()
    called = []
    run = group.ibarrier()
    run.when_ended(lambda: called.append(True))
    run.wait()
    while not called:
        group.barrier_init()
    assert called == [True]


mode = None if sys.argv[1] == "none" else sys.argv[1]
with goal.init(progress=mode) as group:
    asyncio.run(main(group))
print("done")
