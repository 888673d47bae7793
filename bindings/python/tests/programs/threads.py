"""A thread of Python runs while another one waits for a message."""

import os
import pathlib
import tempfile
import threading
import time

import numpy as np

import goal

with goal.init() as group:
    # Rank 0 tells rank 1 the name of a file, which a thread writes while rank 0 waits.
    name = np.zeros(200, np.uint8)
    if group.rank == 0:
        folder = tempfile.mkdtemp()
        path = pathlib.Path(folder) / "ready"
        name[: len(str(path))] = list(str(path).encode())
    group.bcast(name)
    path = pathlib.Path(bytes(name).rstrip(b"\0").decode())
    got = np.zeros(1)
    graph = group.graph()
    if group.rank == 0:
        graph.recv(got, 1)
        waits = threading.Event()

        def write():
            waits.wait()
            for _ in range(50):
                time.sleep(0.001)
            path.write_text("ready")

        thread = threading.Thread(target=write)
        thread.start()
        run = graph.compile().run()
        waits.set()
        run.wait()
        thread.join()
        assert got[0] == 6
        path.unlink()
        os.rmdir(path.parent)
    else:
        while not path.exists():
            time.sleep(0.001)
        graph.send(np.array([6.0]), 0)
        graph.compile().run().wait()
print("done")
