"""The commands of `bench`: what `--help` and `--check` do, on figures that nobody has measured."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import bench.__main__ as expressions
import pytest
from bench.audit import Audited
from bench.check import Commands
from bench.evaluation import BY_HAND, CELADON, METERED, Outcome
from bench.expressions import CASES
from bench.measure import Timings
from bench.results import Around
from bench.server import __main__ as server
from bench.server import beside, measuring
from bench.server.loads import Taken
from bench.server.measuring import Measured, Rate, Start
from bench.undisturbed import Disturbance
from bench.webhook import __main__ as webhook
from bench.webhook import comparison
from bench.webhook.review_loads import Flood, Steady

from bench import growth

FOLDER = Path(expressions.__file__).parent
COMMANDS = [
    ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    for path in sorted(FOLDER.rglob("*.py"))
    if '__name__ == "__main__"' in path.read_text("utf-8")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_asked_for_help_a_command_measures_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER.parent / f"{command.replace('.', '/')}.py"), run_name="__main__")
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


def measured_server(factor: float) -> Measured:
    """A server that does everything in a hundredth of its goal, times the factor."""
    taken = Taken(100_000, factor, factor, factor, b"")
    names = measuring.GET, measuring.FREE, measuring.SMALL, measuring.LARGE, measuring.CREATE
    rates = {name: Rate([taken], [taken]) for name in (*names, measuring.LIST)}
    start = Start(factor / 1000, factor / 1000, round(factor * 1024))
    return Measured(rates, factor / 1000, start, start, start, factor / 2000, 0, 1.0)


def compared_webhooks(factor: float) -> comparison.Compared:
    """A webhook that takes as long as the factor says where the others take 100."""
    times = {comparison.CELADON: factor, comparison.FASTAPI: 100.0, comparison.KOPF: 100.0}
    floods = {name: [Flood(1.0, micros, b"")] for name, micros in times.items()}
    steady = [Steady(1.0, [0.001], Disturbance(0, 0))]
    return comparison.Compared(floods, {comparison.CELADON: steady}, 10)


def around(factor: float) -> Around:
    """All commands in a thousandth of a second, times the factor."""
    seconds = factor / 1000
    commands = Commands({"json": seconds, "yaml": seconds}, {"json": 0, "yaml": 0}, 0, seconds, 0)
    times = (seconds / 100, seconds / 100, seconds, seconds, seconds, seconds / 100, seconds / 100)
    return Around(*times, seconds / 100, seconds / 100, commands, Audited(seconds, 0, 0))


def run_expressions(monkeypatch: pytest.MonkeyPatch, factor: float) -> Callable[[], int]:
    timings = Timings({BY_HAND: [347e-9], CELADON: [347e-9], METERED: [347e-9]})
    monkeypatch.setattr(expressions, "evaluate", lambda *_: [Outcome(CASES[0], timings)])
    monkeypatch.setattr(expressions, "_around", lambda: around(factor))
    monkeypatch.setattr(expressions, "write", lambda *_: None)
    return expressions.main


def run_server(monkeypatch: pytest.MonkeyPatch, factor: float) -> Callable[[], int]:
    monkeypatch.setattr(server, "measure", lambda _: measured_server(factor))
    return server.main


def run_webhook(monkeypatch: pytest.MonkeyPatch, factor: float) -> Callable[[], int]:
    monkeypatch.setattr(comparison, "compare", lambda *_: compared_webhooks(factor))
    return webhook.main


def run_growth(monkeypatch: pytest.MonkeyPatch, factor: float) -> Callable[[], int]:
    """What grows as the number does, or as its square where the factor is large."""
    power = 1 if factor == 1 else 2
    monkeypatch.setattr(growth, "_in_process", lambda _, size: {"get": 1e-6 * size**power})
    return growth.main


@pytest.mark.parametrize("run", [run_expressions, run_server, run_webhook, run_growth])
@pytest.mark.parametrize(
    ("factor", "options", "code"),
    [(1, ["--check"], 0), (1000, ["--check"], 1), (1000, [], 0)],
)
def test_check_fails_when_a_row_is_under_its_floor(
    run: Callable[[pytest.MonkeyPatch, float], Callable[[], int]],
    factor: float,
    options: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", *options])
    assert run(monkeypatch, factor)() == code
    assert ("**missed**" in capsys.readouterr().out) is (factor == 1000)


def test_growth_of_what_has_one_size_or_none_is_no_growth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(growth, "_in_process", lambda _, size: {"get": 1e-6})
    monkeypatch.setattr(sys, "argv", ["bench.growth", "--most", "5"])
    assert growth.main() == 0
    assert "| definitions | get | 1: 1 µs | 0.00 |  |" in capsys.readouterr().out


def test_each_row_beside_kube_apiserver_has_a_floor() -> None:
    names = [work.what for work in beside.works()]
    assert sorted([*names, beside.FAN_OUT, beside.UNDER_POLICIES.what]) == sorted(beside.FLOORS)


@pytest.mark.parametrize(
    ("ratio", "judged"), [(3.0, "**missed**"), (4.0, "not yet"), (5.0, "reached")]
)
def test_only_what_is_under_its_floor_has_missed_it(ratio: float, judged: str) -> None:
    rounds = [10.0] * beside.ROUNDS
    row = beside.Row("get of a ConfigMap", 5, rounds, [ratio * own for own in rounds], rounds)
    assert row.judged == judged


def test_all_measurements_that_have_floors_are_checked() -> None:
    lines = (FOLDER.parent / "Makefile").read_text("utf-8").splitlines()
    commands = [line for line in lines if "-m bench" in line]
    assert [line for line in commands if "--check" not in line and "bench.etcd" not in line] == []
    assert len(commands) == 7
