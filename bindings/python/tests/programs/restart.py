"""A function at the end of a run starts the schedule again, in the very call that finds the end."""

import numpy as np

import goal

with goal.init(progress="caller") as group:
    assert group.size == 2
    order = group.communicator([0, 1])
    array = np.zeros(4)
    graph = group.graph()
    if group.rank == 0:
        graph.recv(array, 1)
        schedule = graph.compile()
        first = schedule.run()
        again = []

        def restart():
            try:
                again.append(schedule.run())
            except goal.Error as error:
                again.append(error)

        first.when_ended(restart)
        # Nothing but attempts to start the schedule brings the first run to its end.
        while not again:
            try:
                raise AssertionError(f"it started: {schedule.run()}")
            except goal.Error as error:
                assert error.code == "GOAL_ERR_BUSY", error
        assert isinstance(again[0], goal.Run), again[0]
        assert (array == 1).all() and not again[0].test()
        group.barrier(comm=order)
        again[0].wait()
        assert (array == 2).all()
    else:
        graph.send(array, 0)
        schedule = graph.compile()
        array[:] = 1
        schedule.run().wait()
        group.barrier(comm=order)
        array[:] = 2
        schedule.run().wait()
print("done")
