"""The stubs of the native part and the annotations say what is there."""

import inspect
import os
import subprocess
import sys

import pytest

import goal
from goal import _goal

HERE = os.path.dirname(__file__)


def mypy(*arguments):
    pytest.importorskip("mypy", reason="no mypy: pip install mypy")
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=HERE)


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="stubtest takes typing.Any for no type before 3.11"
)
def test_stubs_match_the_native_part():
    done = mypy("mypy.stubtest", "goal")
    assert done.returncode == 0, done.stdout + done.stderr


def test_annotations_are_consistent():
    done = mypy("mypy", "--strict", "-p", "goal")
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_public_is_described():
    for name in goal.__all__:
        thing = getattr(goal, name)
        if not inspect.isclass(thing) and not callable(thing):
            continue
        assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                assert inspect.getdoc(value), f"{name}.{member}"


def test_the_native_names_are_in_the_package():
    public = {name for name in _goal.__all__ if not name.startswith("_")}
    assert public <= set(goal.__all__)
