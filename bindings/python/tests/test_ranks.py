"""Each program alone and as ranks of a job, in both modes of progress."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

PROGRAMS = [
    "graphs.py",
    "collectives.py",
    "blocks.py",
    "functions.py",
    "awaiting.py",
    "lifetimes.py",
    "misuse.py",
    "files.py",
]
EXAMPLE = pathlib.Path(__file__).parent / "../../../examples/python/allreduce.py"


@pytest.mark.parametrize("mode", ["caller", "thread"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_alone(ranks, program, mode):
    assert "done" in ranks.alone(program, mode).stdout


@pytest.mark.parametrize("mode", ["caller", "thread"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_ranks(ranks, program, mode):
    assert ranks.together(4, program, mode).stdout.count("done") == 4


def test_collectives_on_three_ranks(ranks):
    assert ranks.together(3, "collectives.py", "none").stdout.count("done") == 3


def test_among_processes_of_mpi():
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun")
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    settings = allowed | {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    program = pathlib.Path(__file__).parent / "programs/mpi.py"
    command = [mpirun, "-n", "3", sys.executable, str(program)]
    done = subprocess.run(
        command, env=os.environ | settings, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stdout.count("done") == 3, done.stdout + done.stderr


def test_node_mode(ranks):
    done = ranks.together(2, "awaiting.py", "none", options=["--progress", "node"])
    assert done.stdout.count("done") == 2


def test_other_threads_run_while_one_waits(ranks):
    assert ranks.together(2, "threads.py").stdout.count("done") == 2


def test_a_thread_that_acts_late_is_awaited(ranks):
    assert ranks.together(2, "acts_late.py").stdout.count("done") == 2


def test_an_exception_in_the_block_ends_the_job(ranks):
    done = ranks.together(2, "raises.py", status=1)
    assert "rank 1 gives up" in done.stderr


def test_a_rank_that_waits_for_ever_is_named_with_its_call(ranks):
    # numpy's own threads may act as far as the launcher knows.
    done = ranks.together(2, "stuck.py", options=["--stuck", "end,1"], status=3)
    assert "waits in barrier" in done.stderr and "tag 9" in done.stderr, done.stderr


def test_a_schedule_starts_again_at_the_end_of_its_run(ranks):
    assert ranks.together(2, "restart.py").stdout.count("done") == 2


@pytest.mark.parametrize("program", ["prefork.py", "ending.py", "forks.py"])
def test_processes(ranks, program):
    assert "done" in ranks.alone(program).stdout
    assert ranks.together(2, program).stdout.count("done") == 2


def test_example(ranks):
    assert "equal to numpy's" in ranks.alone(EXAMPLE.resolve()).stdout
    assert ranks.together(4, EXAMPLE.resolve()).stdout.count("equal to numpy's") == 4
    assert ranks.together(3, EXAMPLE.resolve()).stdout.count("equal to numpy's") == 3
