"""Simulations: the times, the path, the forms of programs and machines, and errors."""

import pathlib
import threading

import numpy as np
import pytest

import goal

PAIR = """num_ranks 2
rank 0 {
  work: calc 300
  give: send 8b to 1
  give requires work
}
rank 1 { take: recv 8b from 0 }
"""
STUCK = """num_ranks 2
rank 0 { a: recv 8b from 1 b: send 8b to 1 b requires a }
rank 1 { a: recv 8b from 0 b: send 8b to 0 b requires a }
"""
DEFAULTS = {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535}


def test_times_and_path():
    found = goal.sim(PAIR)
    assert found.finish.dtype == float and found.finish.tolist() == [1800, 5842]
    assert found.events == 4 and found.model == "goal" and found.machine == DEFAULTS
    assert found.sensitivity == {"L": 1, "o": 2, "g": 0, "G": 7, "O": 0}
    path = found.path
    assert path["cost"].tolist() == ["calc", "o", "L", "o", "G"]
    assert path["work"].tolist() == ["compute", "send", "travel", "receive", "receive"]
    assert path["kind"].tolist() == ["calc", "send", "send", "recv", "recv"]
    assert path["rank"].tolist() == [0, 0, 0, 1, 1]
    assert path["action"].tolist() == [0, 1, 1, 0, 0]
    assert path["line"].tolist() == [3, 4, 4, 7, 7]
    assert path["units"].tolist() == [1, 1, 1, 1, 7]
    assert path["partner_rank"].tolist() == [-1, 1, 1, 0, 0]
    assert path["partner"].tolist() == [-1, 0, 0, 1, 1]
    assert path["start"].tolist() == [0, 300, 1800, 4300, 5800]
    assert np.array_equal(path["end"][:-1], path["start"][1:])
    assert path["end"][-1] == found.finish.max()


def test_derivatives_are_slopes():
    base = goal.sim(PAIR)
    for name in "LoGO":
        larger = goal.sim(PAIR, {**DEFAULTS, name: DEFAULTS[name] + 0.5})
        slope = (larger.finish.max() - base.finish.max()) / 0.5
        assert slope == base.sensitivity[name], name


def test_without_a_path():
    found = goal.sim(PAIR, path=False)
    assert found.path is None and found.sensitivity is None
    assert found.finish.tolist() == goal.sim(PAIR).finish.tolist()


def test_forms_of_a_program(tmp_path):
    whole = goal.sim(PAIR).finish.tolist()
    file = tmp_path / "pair.goal"
    file.write_text(PAIR)
    (tmp_path / "pair.nisa").write_bytes(goal.compile_text(PAIR))
    nisa = tmp_path / "pair.nisa"
    for program in (file, str(file), nisa, PAIR.encode(), nisa.read_bytes(), [PAIR]):
        assert goal.sim(program).finish.tolist() == whole, program
    assert goal.sim(["send 8b to 1", "recv 8b from 0"]).finish.tolist() == [1500, 5542]


def test_forms_of_a_machine(tmp_path):
    file = tmp_path / "fast.machine"
    file.write_text("L=1000 o=100 # and more\n")
    found = goal.sim(PAIR, file)
    assert found.machine["L"] == 1000 and found.machine["o"] == 100 and found.machine["g"] == 100
    assert goal.sim(PAIR, str(file), o=200).machine["o"] == 200
    assert goal.sim(PAIR, {"L": 1000}, G=0.04).machine == {**DEFAULTS, "L": 1000, "G": 0.04}
    for one in (1000, 1000.0, np.float64(1000), np.int32(1000)):
        assert goal.sim(PAIR, L=one).finish.tolist() == [1800, 4342]
    # A fraction of a picosecond is rounded.
    assert goal.sim(PAIR, L=1000 / 3).machine["L"] == 333.333


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"L": -1}, "L=-1: give a number of at least 0"),
        ({"o": float("nan")}, "o=nan: give a number"),
        ({"g": float("inf")}, "g=inf: give a number"),
        ({"G": 1e300}, "G=1e[+]300: the number is too large"),
        ({"L": 2**80}, "L=1208925819614629174706176: the number is too large"),
        ({"S": 0.5}, "S=0.5: give a whole number"),
        ({"latency": 5}, "latency=5: `latency` is no parameter"),
    ],
)
def test_wrong_parameters_are_named(parameters, text):
    with pytest.raises(ValueError, match=text):
        goal.sim(PAIR, **parameters)
    with pytest.raises(ValueError, match=text):
        goal.sim(PAIR, parameters)


def test_other_errors(tmp_path):
    with pytest.raises(TypeError):
        goal.sim(PAIR, L="fast")
    with pytest.raises(TypeError):
        goal.sim(5)
    with pytest.raises(ValueError, match="machine: `X=1` is no parameter"):
        goal.sim(PAIR, "X=1")
    with pytest.raises(goal.Error, match="nowhere.goal: No such file"):
        goal.sim(tmp_path / "nowhere.goal")
    with pytest.raises(goal.Error, match="machine nowhere: No such file"):
        goal.sim(PAIR, pathlib.Path("nowhere"))
    with pytest.raises(goal.Error, match="G0001"):
        goal.sim("rank 0 { send }")


def test_stuck_programs_are_explained():
    with pytest.raises(goal.Error, match="G0301.*no rank can go on") as caught:
        goal.sim(STUCK)
    assert caught.value.code == "GOAL_ERR_STUCK"
    with pytest.raises(goal.Error, match="106 days") as caught:
        goal.sim(PAIR.replace("8b", "2000000000b"), G=2e9)
    assert caught.value.code == "GOAL_ERR_LIMIT"


def test_threads_simulate_at_once():
    ends = []
    threads = [
        threading.Thread(target=lambda size=size: ends.append(goal.sim(PAIR, L=size).finish.max()))
        for size in range(1000, 9000, 1000)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == [size + 3342 for size in range(1000, 9000, 1000)]
