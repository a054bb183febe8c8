"""Replays all recordings, in process and over HTTPS: `make conformance`.

For each group and each way it prints how many scenarios agree and which do not; it ends with 1 if
one differs that `unreached.txt` does not list, if one that it lists agrees, or has no reason.
`--release 1.33` takes the recordings of that release only. With `--write`, what differs goes to
`unreached.txt`, and the numbers to `agreement.json`, of which `docs/fidelity.md` is made.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from tests.apiserver.replaying import replayed_together
from tests.recorded import agreement
from tests.recorded.hook_server import bundle, hook_server
from tests.recorded.replay_tool import tool_path
from tests.recorded.scenarios import Group, Scenario, every_group, groups_of, scenarios
from tests.recorded.server_process import served
from tests.recorded.unreached_list import complaints, refilled, unreached, write

FAILED = re.compile(r"^FAIL (\S+)\.json:(.*)\n((?: .*\n)*)", re.MULTILINE)
"""What the tool prints of a scenario: its name, what it is called or why it cannot be replayed, and
what differs."""
ALL = "all"
SIDE_BY_SIDE = 2
"""Groups at once; each has a server process of its own."""
SHOWN = 8
"""Lines of what differs in a scenario."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of some scenarios; `differences` has lines of those that do not agree."""

    way: str
    group: Group
    asked: Sequence[Scenario]
    differences: Mapping[str, Sequence[str]]

    @property
    def failed(self) -> frozenset[str]:
        """Names of scenarios."""
        return frozenset(self.differences)

    @property
    def log(self) -> str:
        """What is shown of those that do not agree."""
        return "".join(
            f"FAIL {name}\n" + "".join(f"    {line}\n" for line in lines[:SHOWN])
            for name, lines in self.differences.items()
        )

    @property
    def line(self) -> str:
        good = len(self.asked) - len(self.failed)
        return f"{self.group.label:17} {self.way:12} {good:4} passed {len(self.failed):4} failed\n"


def in_process(group: Group, asked: Sequence[Scenario]) -> Outcome:
    with hooks_of(group) as authority:
        ca_bundle = None if authority is None else bundle(authority)
        paths = [one.path for one in asked]
        release, gates = group.release, group.gates
        replayed = list(
            replayed_together(paths, group.jobs, ca_bundle, release=release, gates=gates)
        )
    both = zip(asked, replayed, strict=True)
    differences = {one.name: wrong for one, (_, wrong) in both if wrong}
    return Outcome("in process", group, asked, differences)


def over_https(group: Group, asked: Sequence[Scenario]) -> Outcome:
    """By the shared tool's own command, as anybody else would run it."""
    log = ""
    for every in (False, True):
        paths = [str(one.path) for one in asked if one.needs_all_versions == every]
        if paths:
            with hooks_of(group) as authority:
                log += _checked(paths, authority, group, all_versions=every)
    differences = {
        f"{group.label}/{stem}": [line.strip() for line in lines.splitlines()] or [first.strip()]
        for stem, first, lines in FAILED.findall(log)
    }
    return Outcome("over HTTPS", group, asked, differences)


def hooks_of(group: Group) -> AbstractContextManager[Path | None]:
    """The hook server's authority while it runs; None where nobody calls it."""
    return hook_server() if group.has_hooks else nullcontext()


def _checked(
    paths: Sequence[str], authority: Path | None, group: Group, *, all_versions: bool
) -> str:
    with (
        tempfile.TemporaryDirectory(prefix="celadon-recorded-") as folder,
        served(
            Path(folder), all_versions=all_versions, release=group.release, gates=group.gates
        ) as server,
    ):
        where = ("--server", server.url, "--audit-log", str(server.audit_log))
        hooks = () if authority is None else ("--ca-file", str(authority))
        command = [sys.executable, str(tool_path()), "check", *where, *hooks, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines(keepends=True)
    if done.stderr or not lines or not lines[-1].endswith("failed\n"):
        raise RuntimeError(f"the replaying tool did not finish: {done.stderr or done.stdout}")
    return "".join(lines[:-1])


def outcomes(
    way: Callable[[Group, Sequence[Scenario]], Outcome],
    groups: Iterable[Group],
    jobs: int,
    known: Collection[str],
) -> Iterator[Outcome]:
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda group: tried(way, group, known), groups)


def tried(
    way: Callable[[Group, Sequence[Scenario]], Outcome], group: Group, known: Collection[str]
) -> Outcome:
    """What differs and is not listed is tried once more: entries of managedFields stand in another
    order, here and upstream, where two writes fall into different seconds."""
    first = way(group, scenarios([group]))
    odd = [one for one in first.asked if one.name in first.failed and one.name not in known]
    if not odd:
        return first
    listed = {name: lines for name, lines in first.differences.items() if name in known}
    return replace(first, differences=listed | dict(way(group, odd).differences))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="all, if none is named")
    parser.add_argument("--only", choices=["process", "https"], help="one way instead of both")
    parser.add_argument(
        "--release", metavar="MINOR", default=ALL, help="recordings of that release, not of every"
    )
    parser.add_argument("--write", action="store_true", help="keep the list and the numbers")
    options = parser.parse_args()
    groups = [
        one for one in groups_in(options.release) if one.name in (options.groups or {one.name})
    ]
    known = unreached()
    found: list[Outcome] = []
    if options.only != "https":
        found += _shown(outcomes(in_process, groups, 1, known))
    if options.only != "process":
        found += _shown(outcomes(over_https, groups, SIDE_BY_SIDE, known))
    if options.write:
        for one in found:
            numbers = {"all": len(one.asked), one.way: len(one.asked) - len(one.failed)}
            agreement.note(agreement.SCENARIOS, {one.group.label: numbers})
    failed = {name: lines for one in found for name, lines in one.differences.items()}
    if options.write:
        known = unreached()  # other releases may have been written meanwhile
        asked = {scenario.name for one in found for scenario in one.asked}
        known = refilled(known, asked, failed)
        write(known)
    for name in sorted(failed.keys() & known.keys()):
        sys.stdout.write(f"not reached: {name} ({known[name]})\n")
    wrong = [complaint for one in found for complaint in _complaints(one, known)]
    sys.stdout.writelines(f"error: {one}\n" for one in wrong)
    return 1 if wrong else 0


def groups_in(release: str) -> list[Group]:
    """The groups that are asked for: of one release, or of all."""
    return every_group() if release == ALL else groups_of(release)


def _complaints(one: Outcome, known: Mapping[str, str]) -> Iterator[str]:
    return complaints(known, [scenario.name for scenario in one.asked], one.failed, one.way)


def _shown(found: Iterable[Outcome]) -> Iterator[Outcome]:
    for one in found:
        sys.stdout.write(one.log + one.line)
        sys.stdout.flush()
        yield one


if __name__ == "__main__":
    sys.exit(main())
