"""Replays all recordings, in process and over HTTPS: `make conformance`.

For each group and each way it prints how many scenarios agree and which do not; it ends with 1 if
one differs that `unreached.txt` does not list, or if one that it lists agrees; with `--update`, the
latter are taken off the list. `--release 1.33` takes the recordings of that release, `--release
all` those of all. With `--write`, the numbers go to `agreement.json`, of which
`docs/fidelity.md` is made.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from tests.apiserver.replaying import replayed_together
from tests.recorded import agreement
from tests.recorded.hook_server import bundle, hook_server
from tests.recorded.replay_tool import tool_path
from tests.recorded.scenarios import (
    GROUPS,
    UNREACHED,
    Group,
    Scenario,
    groups_of,
    recorded_releases,
    scenarios,
    unreached,
)
from tests.recorded.server_process import served

FAILED = re.compile(r"FAIL (\S+)\.json:")
SIDE_BY_SIDE = 2
"""Groups at once; each has a server process of its own."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of some scenarios; `failed` are names, `log` is what differs."""

    way: str
    group: Group
    asked: Sequence[Scenario]
    failed: frozenset[str]
    log: str

    @property
    def line(self) -> str:
        good = len(self.asked) - len(self.failed)
        return f"{self.group.label:17} {self.way:12} {good:4} passed {len(self.failed):4} failed\n"


def in_process(group: Group, asked: Sequence[Scenario]) -> Outcome:
    found = {one.name: "" for one in asked}
    with hooks_of(group) as authority:
        ca_bundle = None if authority is None else bundle(authority)
        paths = [one.path for one in asked]
        release, gates = group.release, group.gates
        replayed = list(
            replayed_together(paths, group.jobs, ca_bundle, release=release, gates=gates)
        )
    for one, (_, wrong) in zip(asked, replayed, strict=True):
        found[one.name] = "".join(f"    {line}\n" for line in wrong[:8])
    failed = {name: log for name, log in found.items() if log}
    text = "".join(f"FAIL {name}\n{log}" for name, log in failed.items())
    return Outcome("in process", group, asked, frozenset(failed), text)


def over_https(group: Group, asked: Sequence[Scenario]) -> Outcome:
    """By the shared tool's own command, as anybody else would run it."""
    log = ""
    for every in (False, True):
        paths = [str(one.path) for one in asked if one.needs_all_versions == every]
        if paths:
            with hooks_of(group) as authority:
                log += _checked(paths, authority, group, all_versions=every)
    failed = {f"{group.label}/{stem}" for stem in FAILED.findall(log)}
    return Outcome("over HTTPS", group, asked, frozenset(failed), log)


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
    way: Callable[[Group, Sequence[Scenario]], Outcome], groups: Iterable[Group], jobs: int
) -> Iterator[Outcome]:
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda group: way(group, scenarios([group])), groups)


def complaints(outcome: Outcome, known: Iterable[str]) -> Iterator[str]:
    """Where the list of what is not reached is wrong."""
    for one in outcome.asked:
        if one.name in outcome.failed and one.name not in known:
            yield f"{one.name} differs ({outcome.way})"
        if one.name not in outcome.failed and one.name in known:
            yield f"{one.name} agrees ({outcome.way}): take it off {UNREACHED.name}"


def take_off(names: Iterable[str]) -> None:
    """Reasons that nothing is left of go, too."""
    gone, sections = set(names), UNREACHED.read_text().split("\n\n")
    kept = ("\n".join(one for one in each.split("\n") if one not in gone) for each in sections)
    UNREACHED.write_text("\n\n".join(each for each in kept if "/" in each))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="all, if none is named")
    parser.add_argument("--only", choices=["process", "https"], help="one way instead of both")
    parser.add_argument(
        "--release",
        metavar="MINOR",
        help="recordings of that release instead of the usual one; `all`: of every release",
    )
    parser.add_argument("--update", action="store_true", help="take off the list what agrees")
    parser.add_argument("--write", action="store_true", help="keep the numbers for the page")
    options = parser.parse_args()
    groups = [
        one for one in groups_in(options.release) if one.name in (options.groups or {one.name})
    ]
    found: list[Outcome] = []
    if options.only != "https":
        found += _shown(outcomes(in_process, groups, 1))
    if options.only != "process":
        found += _shown(outcomes(over_https, groups, SIDE_BY_SIDE))
    if options.write:
        for one in found:
            numbers = {"all": len(one.asked), one.way: len(one.asked) - len(one.failed)}
            agreement.note(agreement.SCENARIOS, {one.group.label: numbers})
    known = unreached()
    failed = frozenset().union(*(one.failed for one in found))
    if options.update:
        take_off({name for one in found for name in (s.name for s in one.asked)} - failed)
        known = unreached()
    for name in sorted(failed & known.keys()):
        sys.stdout.write(f"not reached: {name} ({known[name]})\n")
    wrong = [complaint for one in found for complaint in complaints(one, known)]
    sys.stdout.writelines(f"error: {one}\n" for one in wrong)
    return 1 if wrong else 0


def groups_in(release: str | None) -> list[Group]:
    """The groups that are asked for: of the usual release, of another one, or of all."""
    if release != "all":
        return groups_of(release) if release else list(GROUPS)
    others = (group for minor in recorded_releases() for group in groups_of(minor))
    return [*others, *GROUPS]


def _shown(found: Iterable[Outcome]) -> Iterator[Outcome]:
    for one in found:
        sys.stdout.write(one.log + one.line)
        sys.stdout.flush()
        yield one


if __name__ == "__main__":
    sys.exit(main())
