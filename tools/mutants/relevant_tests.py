"""Which tests run a line of the modules that are examined, and how long each takes.

The tests run once under coverage.py, which notes for every line the test that was running. A line
that runs on import belongs to every test that runs any other line of its module.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

PYTEST_OPTIONS = (
    *("-m", "not thorough", "-p", "no:cacheprovider", "--assert=plain"),
    *("-W", "ignore:Module already imported"),
)
"""What is thorough is left out; nothing is kept; plugins are there before pytest looks for them.
Without `plain`, pytest imports the package of an installed plugin by itself, to show more of its
assertions, and finds the sound modules."""

Place = tuple[str, int, int]
"""A module, the first line and the last."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """`lines`: module, line, tests; `modules`: module, tests; `seconds`: test, duration."""

    lines: dict[str, dict[int, list[str]]]
    modules: dict[str, set[str]]
    seconds: dict[str, float]

    def on_import(self, place: Place) -> bool:
        """Whether a line of it runs when the module, or a test, is imported."""
        return "" in self._at(*place)

    def of(
        self,
        module: str,
        places: Sequence[Place],
        limit: float,
        files: int | None = None,
        own: Sequence[str] = (),
        near: Sequence[str] = (),
    ) -> list[str]:
        """Ids of the tests that run one of the places, then of those that run any other line of
        the module: what the place gave may be kept and read by a test that does not run it. Of
        either, those of the module's `own` tests come first, then those beside it, then of files
        with the quickest tests; they take about as many seconds as the limit and are from at most
        so many files, or from those beside it if they are more. Before them all tests of the files
        that are `near`, whatever they run, the quickest first, again as long as the limit."""
        beside = [test for test in self.seconds if test.partition("::")[0] in near]
        chosen = list(self._within(limit, beside))
        at_places = {test for place in places for test in self._at(*place) if test}
        for tests in (at_places, self.modules.get(module, set())):
            by_file: defaultdict[str, list[str]] = defaultdict(list)
            for test in tests.difference(chosen):
                by_file[test.partition("::")[0]].append(test)
            ranked = sorted(by_file, key=lambda one: self._rank(module, one, by_file[one], own))
            beside_it = sum(_is_beside(module, file) for file in ranked)
            most = None if files is None else max(files, beside_it)
            chosen += self._within(limit, *(by_file[file] for file in ranked[:most]))
        return chosen

    def _within(self, limit: float, *groups: list[str]) -> Iterator[str]:
        """The quickest of each group, until the time is up; one at least."""
        left = limit
        for number, group in enumerate(groups):
            for at, test in enumerate(sorted(group, key=self._time)):
                left -= self._time(test)
                if left < 0 and (number or at):
                    break
                yield test

    def _time(self, test: str) -> float:
        return self.seconds.get(test, 0.0)

    def _at(self, module: str, line: int, end_line: int) -> Iterator[str]:
        known = self.lines.get(module, {})
        for at in range(line, end_line + 1):
            yield from known.get(at, ())

    def _rank(
        self, module: str, file: str, tests: list[str], own: Sequence[str]
    ) -> tuple[bool, bool, float, str]:
        mean = sum(map(self._time, tests)) / len(tests)
        is_own = file == mirrored(module) or file in own
        return not is_own, not _is_beside(module, file), mean, file


def mirrored(module: str) -> str:
    """The file that tests the module or package, if there is one."""
    _, *folders, name = module.split(".")
    return "/".join(["tests", *folders, f"test_{name}.py"])


def _is_beside(module: str, file: str) -> bool:
    """Whether the file of tests is in the folder of the module's own."""
    return file.startswith((f"{mirrored(module).rpartition('/')[0]}/", f"{_folder(module)}/"))


def _folder(module: str) -> str:
    """The folder that tests the module, where it takes several files."""
    return "/".join(["tests", *module.split(".")[1:]])


class _Recorder:
    """Tells coverage which test is running, and notes its time."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._measured.switch_context(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start
            self._measured.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def measure(packages: Sequence[str], tests: Iterable[str], data_file: Path) -> Relevance:
    """Run the tests; those that fail are left out. Nothing of the packages has been imported."""
    data_file.unlink(missing_ok=True)
    measured = coverage.Coverage(
        data_file=str(data_file), source_pkgs=list(packages), config_file=False, messages=False
    )
    recorder = _Recorder(measured)
    measured.start()
    options = ("-q", "--continue-on-collection-errors", *PYTEST_OPTIONS)
    pytest.main([*options, *tests], plugins=[recorder])
    measured.stop()
    return _read(measured.get_data(), recorder.seconds, recorder.failed)


def _read(data: coverage.CoverageData, seconds: dict[str, float], failed: set[str]) -> Relevance:
    lines, modules = {}, {}
    for file in data.measured_files():
        module = _module(Path(file))
        lines[module] = {
            line: [test for test in tests if test not in failed]
            for line, tests in data.contexts_by_lineno(file).items()
        }
        modules[module] = {test for tests in lines[module].values() for test in tests if test}
    return Relevance(lines, modules, seconds)


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    start = len(parts) - 1 - parts[::-1].index("celadon")
    return ".".join(parts[start:]).removesuffix(".__init__")
