"""Suites of public operators, run as they are on the programs of `celadon envtest`:
`python -m tools.public_suites FOLDER [SUITE ...]`.

FOLDER holds a checkout of each project, named as the project is (`open-cluster-management-io/ocm`);
one that is missing is cloned. A Go toolchain is needed beside that. Most projects have their
dependencies in `vendor`; those of others come over the network, or with `--borrow` from the
`vendor` folders of other projects (`tools.borrowed_modules`).

Each suite is printed with what it came to, and its row in `docs/public-suites.md` is written anew.
The exit code is 1 if anything failed that is not known to, or if fewer tests passed than did
before.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.borrowed_modules import borrow

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "public-suites.md"
TIMEOUT: Final = "60m"
PATIENCE: Final = {
    "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT": "3m",
    "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT": "1m",
}
"""A busy machine may take long to start anything."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Packages of a project at a commit, and how many tests pass at least. `release` is the one
    that the project itself asks for; `known` says which failures are not Celadon's, and why."""

    name: str
    project: str
    commit: str
    release: str
    packages: Sequence[str]
    passed: int
    branch: str = "main"
    known: Mapping[str, str] | None = None
    where: str = ""
    """The folder in which the programs run, if it is not that of each package."""


_OCM: Final = "open-cluster-management-io/ocm"
_RUNTIME: Final = (
    *("builder", "cache", "client", "client/apiutil", "cluster", "controller", "envtest"),
    *("internal/controller", "internal/recorder", "manager", "manager/internal/integration"),
    *("metrics/filters", "webhook"),
)
_KUEUE: Final = (
    *(f"controller/jobs/{name}" for name in ("job", "jobset", "pod", "raycluster")),
    *("controller/core", "importer", "kueuectl", "scheduler", "tas", "webhook/jobs"),
)
SUITES: Final[Sequence[Suite]] = (
    Suite(
        "`test/integration/placement`",
        _OCM,
        "00f84c32",
        "1.35",
        ("test/integration/placement",),
        passed=33,
        where=".",
    ),
    Suite(
        "`test/integration/work`",
        _OCM,
        "00f84c32",
        "1.35",
        ("test/integration/work",),
        passed=83,
        where=".",
        known={"should delete work successfully": "seen once under load; the cause is not known"},
    ),
    Suite(
        "`pkg`: all packages that start a server",
        "kubernetes-sigs/controller-runtime",
        "3be3f1bf",
        "1.36",
        tuple(f"pkg/{name}" for name in _RUNTIME),
        passed=976,
        known={
            "aggregatedDiscovery=false": "takes a kube-apiserver of 1.28 from the network",
            "should refuse to add runnable if stop procedure is already engaged": (
                "asks no server; it counts on goroutines to be quick"
            ),
        },
    ),
    Suite(
        "`test/integration/singlecluster/webhook/core`",
        "openshift/kubernetes-sigs-kueue",
        "31bf4791",
        "1.33",
        ("test/integration/singlecluster/webhook/core",),
        passed=184,
    ),
    Suite(
        "`test/integration/multikueue`, ten more of `singlecluster`",
        "openshift/kubernetes-sigs-kueue",
        "31bf4791",
        "1.33",
        (
            "test/integration/multikueue",
            *(f"test/integration/singlecluster/{name}" for name in _KUEUE),
        ),
        passed=349,
        known={
            "FlavorFungibilityImplicitPreferenceDefault": "specs of one process leave flavors",
            "Pass-through commands": "they want the program `kubectl-kueue`",
        },
    ),
    Suite(
        "`internal/webhooks/test`, `internal/util/ssa`, three controllers",
        "openshift/cluster-api",
        "303d9786",
        "1.35",
        (
            *("internal/webhooks/test", "internal/util/ssa", "controllers/crdmigrator"),
            *("internal/controllers/clusterclass", "internal/controllers/machinedeployment"),
        ),
        passed=2593,
    ),
    Suite(
        "`pkg/webhooks`, `pkg/controller/machineset`",
        "openshift/machine-api-operator",
        "95119612",
        "1.34",
        ("pkg/webhooks", "pkg/controller/machineset"),
        passed=467,
    ),
    Suite(
        "`internal/controller/podplacementconfig`",
        "openshift/multiarch-tuning-operator",
        "6f393b04",
        "1.35",
        ("internal/controller/podplacementconfig",),
        passed=10,
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What packages came to. `failures` are names of tests."""

    passed: int = 0
    failures: tuple[str, ...] = ()
    skipped: int = 0
    seconds: float = 0.0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.passed + other.passed,
            self.failures + other.failures,
            self.skipped + other.skipped,
            self.seconds + other.seconds,
        )


# --- Output of a test program ------------------------------------------------

_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_SPECS: Final = re.compile(
    r"(?P<passed>\d+) Passed \| (?P<failed>\d+) Failed \| (?P<pending>\d+) Pending"
    r" \| (?P<skipped>\d+) Skipped"
)
_FAILED_SPEC: Final = re.compile(r"^ *\[(?:FAIL|PANICKED!|TIMEDOUT|INTERRUPTED)\] (.+)$", re.M)
_TEST: Final = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+)", re.M)
_HOLDER: Final = re.compile(r"^=== (?:RUN|CONT) +(\S+)$|^(Running Suite: )", re.M)


def outcome_of(output: str, code: int, seconds: float) -> Outcome:
    """Specs of Ginkgo are counted, and Go's own tests but for those that only hold specs or other
    tests. A program that failed without a failed test has one all the same."""
    text = _COLOURS.sub("", output)
    found = Outcome(seconds=seconds)
    for specs in _SPECS.finditer(text):
        left_out = int(specs["pending"]) + int(specs["skipped"])
        found += Outcome(int(specs["passed"]), skipped=left_out)
    failures = list(dict.fromkeys(_FAILED_SPEC.findall(text)))
    tests = _TEST.findall(text)
    holders = {name for _, name in tests if any(one.startswith(f"{name}/") for _, one in tests)}
    holders |= _holders_of_specs(text)
    for state, name in tests:
        if name in holders:
            continue
        if state == "FAIL":
            failures.append(name)
        found += Outcome(int(state == "PASS"), skipped=int(state == "SKIP"))
    if code and not failures:
        last = text.strip().splitlines()[-1:] or ["no output"]
        failures.append(f"exit code {code}: {last[0]}")
    return found + Outcome(failures=tuple(failures))


def _holders_of_specs(text: str) -> set[str]:
    """Tests that began last before a suite of specs did."""
    found, current = set(), ""
    for name, begins in _HOLDER.findall(text):
        if begins:
            found.add(current)
        current = name or current
    return found


# --- Running -----------------------------------------------------------------


def checkout(folder: Path, suite: Suite) -> Path:
    """The project at its commit."""
    place = folder / suite.project
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _run("git", "clone", "-q", f"https://github.com/{suite.project}", str(place))
    at = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=place, check=True, capture_output=True, text=True
    )
    if not at.stdout.startswith(suite.commit):
        _run("git", "-C", str(place), "checkout", "-q", suite.commit)
    return place


def assets(release: str) -> str:
    """The folder with the programs of a release."""
    words = (sys.executable, "-m", "celadon", "envtest", "use", release, "-p", "path")
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def run_suite(folder: Path, suite: Suite, lenders: Sequence[Path]) -> Outcome:
    """All packages, one after the other. `lenders` have a `vendor` folder."""
    place = checkout(folder, suite)
    if lenders and not (place / "vendor").exists():
        for note in borrow(place, lenders):
            _say(f"  {note}")
    mode = "-mod=vendor" if (place / "vendor").exists() else "-mod=mod"
    environment = {**os.environ, "KUBEBUILDER_ASSETS": assets(suite.release)}
    environment |= {"GOFLAGS": f"{os.environ.get('GOFLAGS', '')} {mode}", **PATIENCE}
    total = Outcome()
    for package in suite.packages:
        program = folder / "programs" / f"{suite.project}/{package}.test".replace("/", "-")
        words = ("go", "test", "-vet=off", "-c", "-o", str(program), f"./{package}")
        subprocess.run(words, cwd=place, env=environment, check=True)
        began = time.monotonic()
        done = subprocess.run(
            (str(program), "-test.v", "-test.timeout", TIMEOUT),
            cwd=place / (suite.where or package),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        program.with_suffix(".log").write_text(done.stdout, encoding="utf-8")
        one = outcome_of(done.stdout, done.returncode, time.monotonic() - began)
        _say(f"  {package}: {told(one)}")
        total += one
    return total


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


# --- The page ----------------------------------------------------------------


def told(outcome: Outcome) -> str:
    """In words."""
    ran = outcome.passed + len(outcome.failures)
    parts = [f"{ran} tests: all pass" if not outcome.failures else f"{ran} tests"]
    if outcome.failures:
        parts = [f"{ran} tests: {outcome.passed} pass, {len(outcome.failures)} fail"]
    if outcome.skipped:
        parts.append(f"{outcome.skipped} are skipped")
    return f"{', '.join(parts)}, {outcome.seconds:.0f} s"


def row(suite: Suite, outcome: Outcome) -> str:
    """That of a suite."""
    link = f"[{suite.project}](https://github.com/{suite.project}) {suite.name}"
    return f"| {link} | `{suite.commit}` | {suite.release} | {told(outcome)} |"


def with_row(page: str, suite: Suite, outcome: Outcome) -> str:
    """The page with the row of a suite: in the place of its former one, else behind the last of
    the suites of operators."""
    lines = page.splitlines()
    made = row(suite, outcome)
    mark = made.split(" | ")[0] + " |"
    for at, line in enumerate(lines):
        if line.startswith(mark):
            lines[at] = made
            return "\n".join(lines) + "\n"
    head = lines.index("| suite | commit | release | what runs |")
    end = next(at for at in range(head, len(lines)) if not lines[at].startswith("|"))
    lines.insert(end, made)
    return "\n".join(lines) + "\n"


def unexpected(suite: Suite, outcome: Outcome) -> list[str]:
    """What went worse than it is known to."""
    known = suite.known or {}
    found = [one for one in outcome.failures if not any(text in one for text in known)]
    if outcome.passed < suite.passed:
        found.append(f"{outcome.passed} passed, before {suite.passed}")
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Run what is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("suite", nargs="*", help="text in a project's or suite's name")
    parser.add_argument(
        "--borrow",
        type=Path,
        action="append",
        default=[],
        metavar="PROJECT",
        help="may be repeated",
    )
    parser.add_argument("--keep-page", action="store_true", help="write no documentation")
    options = parser.parse_args(words)
    (options.folder / "programs").mkdir(parents=True, exist_ok=True)
    code = 0
    for suite in SUITES:
        called = f"{suite.project} {suite.name}"
        if options.suite and not any(one in called for one in options.suite):
            continue
        _say(f"{called}, Kubernetes {suite.release}")
        outcome = run_suite(options.folder.resolve(), suite, options.borrow)
        _say(f"  {told(outcome)}")
        for one in unexpected(suite, outcome):
            _say(f"  FAIL {one}")
            code = 1
        if not options.keep_page:
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(with_row(page, suite, outcome), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
