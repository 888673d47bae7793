"""The program ends although a function at the end of a run blocks in another thread."""

import threading

import goal

with goal.init() as group:
    run = group.ibarrier()
    run.wait()
    entered = threading.Event()

    def block():
        entered.set()
        threading.Event().wait()

    blocked = threading.Thread(target=lambda: run.when_ended(block), daemon=True)
    blocked.start()
    entered.wait()
print("done")
