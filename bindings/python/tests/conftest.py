"""Runs programs as ranks: alone, and under `goal-run`."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
SECONDS_MAX = 60


def launcher():
    """Returns the path of `goal-run`; None if there is none."""
    path = os.environ.get("GOAL_RUN") or HERE / "../../../target/release/goal-run"
    return str(path) if os.access(path, os.X_OK) else None


class Ranks:
    """Starts programs of `tests/programs`, or others by their path."""

    def alone(self, program, *arguments, status=0):
        return self._run([sys.executable, self._path(program), *arguments], status)

    def together(self, ranks, program, *arguments, options=(), status=0):
        goal_run = launcher()
        if goal_run is None:
            pytest.skip("no goal-run: set GOAL_RUN, or cargo build --release -p goal-run")
        command = [goal_run, "-n", str(ranks), "--timeout", "50", *options, "--"]
        return self._run([*command, sys.executable, self._path(program), *arguments], status)

    def _path(self, program):
        path = pathlib.Path(program)
        return str(path if path.is_absolute() else HERE / "programs" / program)

    def _run(self, command, status):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL
        )
        assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture
def ranks():
    return Ranks()
