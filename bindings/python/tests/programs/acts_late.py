"""A rank waits for a thread of the other one that has not called the package before."""

import threading
import time

import goal

with goal.init() as group:
    second = group.communicator([0, 1])

    def late():
        time.sleep(0.7)
        group.barrier()

    if group.rank == 1:
        thread = threading.Thread(target=late)
        thread.start()
    else:
        group.barrier()
    group.barrier(comm=second)
    if group.rank == 1:
        thread.join()
    print("done")
