"""The page that says what Celadon is compared with, and where it differs:
`python -m tools.fidelity_page > docs/fidelity.md`.

Numbers are in `tests/recorded/agreement.json`, which `make fidelity` writes anew; differences in
the lists that the tests hold.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tests.conformance import skips
from tests.paths import ROOT
from tests.recorded import agreement
from tests.recorded.scenarios import GROUPS
from tests.recorded.unreached_list import unreached

_WAYS: Final = ("all", "in process", "over HTTPS")

DIFFERENCES: Final = ROOT / "tests" / "recorded" / "known_differences.json"

ABOUT: Final[Mapping[str, str]] = {
    "policy": "validating policies: bindings, params, conditions, messages, budgets, failures",
    "mutating": "mutating policies: configurations, JSON patches, both rounds, failures",
    "webhook": "admission webhooks: whom the server calls, what it sends, what follows",
    "api": "requests, definitions, custom resources, access, errors",
    "defaulting": "what built-in kinds are filled in with, and what plugins do",
    "watch": "streams: where they start, what they show, how they end",
    "apply": "server-side apply and managed fields",
    "tables": "objects as tables, as kubectl prints them",
    "clients": "what else clients do: evictions, tokens, garbage collection, pages, discovery",
    "fuzz/policy": "random policies and objects",
    "fuzz/api": "random schemas and custom resources",
    "fuzz/objects": "random objects of some 60 built-in kinds, created with dryRun",
    "fuzz/crd": "custom resources under random schemas with rules and defaults",
    "fuzz/patches": "random rows of applies, patches and updates by several managers",
    "real": "definitions of 22 public projects, with the objects that ship with them",
}
"""What the scenarios of a group are about, in the order of the page."""

EXPRESSIONS: Final[Mapping[str, str]] = {
    "cel-spec": "the public conformance suite of CEL: values, types, errors",
    "cel-kubernetes": "expressions in the environment of 1.36: values, texts, costs, estimates",
    "fuzz/cel": "random expressions, compared likewise",
}

_HEAD: Final = """# Fidelity

<!-- Made by `python -m tools.fidelity_page > docs/fidelity.md`; edit that or its lists. -->

*Reference.* Celadon answers as kube-apiserver 1.36 does, to the letter of the message. This page
says what that is checked with, how much agrees, and what is known to differ.

The recordings are answers of a real kube-apiserver 1.36: a scenario stores objects, sends requests
and holds each answer's code, body, warnings and audit annotations. They are replayed against the
server in process and against `celadon serve` over HTTPS. `make conformance` runs all and fails when
one differs that no list names. The recordings lie beside the repository (`CELADON_SHARED`).
"""

_BY_HAND: Final = """## Suites of other projects

These were run by hand against `celadon serve` in the place of envtest's API server and etcd, with
unchanged tests; they are no part of `make conformance`.

| suite | commit | how many | Celadon, as first found | after repairs |
|---|---|---|---|---|
{rows}

The first suite passes as a whole on kube-apiserver 1.36.2. An empty cell: not counted then.
"""

SUITES: Final = (
    (
        "kueue, webhooks and core",
        "kubernetes-sigs/kueue ff69552e",
        "253 specs",
        "49 passed",
        "251; the other 2 convert between versions by a webhook, which was not called then",
    ),
    (
        "kueue, webhooks of jobs",
        "kubernetes-sigs/kueue ff69552e",
        "67 specs",
        "",
        "67",
    ),
    (
        "kueue, controller of Jobs",
        "kubernetes-sigs/kueue ff69552e",
        "91 specs",
        "47 passed",
        "91",
    ),
    (
        "kueue, core controllers",
        "kubernetes-sigs/kueue ff69552e",
        "79 specs",
        "",
        "79",
    ),
    (
        "kueue, controllers of Pods, StatefulSets, JobSets, MPIJobs, RayClusters, admission checks,"
        " devices, failures and concurrent admission, set-up of jobs, importer",
        "kubernetes-sigs/kueue ff69552e",
        "186 specs",
        "",
        "186",
    ),
    (
        "kueue, scheduler, with topologies (TAS)",
        "kubernetes-sigs/kueue ff69552e",
        "318 specs",
        "",
        "318",
    ),
    (
        "kueue, kueuectl",
        "kubernetes-sigs/kueue ff69552e",
        "55 specs",
        "",
        "55",
    ),
    (
        "kueue, conversion",
        "kubernetes-sigs/kueue ff69552e",
        "2 specs",
        "",
        "0; both convert between versions by a webhook, which was not called then",
    ),
    (
        "hypershift, envtest",
        "openshift/hypershift 3ee96155",
        "954 specs",
        "119 passed, 3 failed, the others were not reached",
        "954",
    ),
    (
        "openshift/api, tests of definitions",
        "openshift/api 2a3d7391",
        "6,691 specs",
        "3,621 passed, 270 failed (246 because of texts of 1.32), 2,800 were skipped",
        "with the texts of 1.32 2,587 passed and none failed until the run was ended",
    ),
    (
        "informers of client-go: 24 of them, four writers, three kills of the server",
        "client-go 0.36.3",
        "5,002 changes",
        "no failure",
        "",
    ),
)
"""By whom, of what, how many, and what passed."""


def page() -> str:
    """The whole page."""
    rows = "\n".join(f"| {' | '.join(row)} |" for row in SUITES)
    suites = _BY_HAND.format(rows=rows)
    parts = [_HEAD, *_scenarios(), *_expressions(), suites, *_differences()]
    return "\n".join(parts)


def _scenarios() -> Iterator[str]:
    numbers = agreement.agreement()[agreement.SCENARIOS]
    yield "## Recorded scenarios\n"
    yield "| group | what | scenarios | agree in process | agree over HTTPS |"
    yield "|---|---|---|---|---|"
    known = {group.name for group in GROUPS}
    for name, about in ABOUT.items():
        found = numbers.get(name, {})
        cells = (_number(found, key) for key in _WAYS)
        assert name in known, f"there is no group {name}"
        yield f"| `{name}` | {about} | {' | '.join(cells)} |"
    yield "\nA dash stands where nobody has counted yet.\n"
    yield from _older_releases(numbers)


def _older_releases(numbers: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """The same scenarios with the answers of other releases, all groups of one together."""
    releases = sorted({name.partition("/")[0] for name in numbers if name[0].isdigit()})
    if not releases:
        return
    yield "Scenarios with the answers of older releases, asked of `--kubernetes-version` of each:\n"
    yield "| release | scenarios | agree in process | agree over HTTPS |"
    yield "|---|---|---|---|"
    for release in releases:
        groups = [found for name, found in numbers.items() if name.startswith(f"{release}/")]
        counted = {key for key in _WAYS if all(key in found for found in groups)}
        sums = {key: sum(found[key] for found in groups) for key in counted}
        cells = (_number(sums, key) for key in _WAYS)
        yield f"| {release} | {' | '.join(cells)} |"
    yield ""


def _expressions() -> Iterator[str]:
    numbers = agreement.agreement()[agreement.EXPRESSIONS]
    yield "## Expressions\n"
    yield "| suite | what | cases | agree | not compared |"
    yield "|---|---|---|---|---|"
    for name, about in EXPRESSIONS.items():
        found = numbers.get(name, {})
        cells = (_number(found, key) for key in ("all", "agree", "skipped"))
        yield f"| `{name}` | {about} | {' | '.join(cells)} |"
    yield ""


def _number(found: Mapping[str, Any], key: str) -> str:
    return f"{found[key]:,}" if key in found else "-"


def _differences() -> Iterator[str]:
    yield "## Known differences\n"
    yield "By design, or because the real server is random or breaks:\n"
    for one in json.loads(DIFFERENCES.read_text(encoding="utf-8")):
        yield f"- {one['what']}: {one['why']}."
    yield "\nExpressions that are not compared:\n"
    yield from _listed(skips.FAULTY)
    named = unreached()
    if not named:
        yield "\nEvery scenario agrees.\n"
        return
    yield "\nScenarios that do not agree yet:\n"
    yield from _listed(named)
    yield ""


def _listed(reasons: Mapping[str, str]) -> Iterable[str]:
    """Names by their reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield f"- {reason} ({len(names)}): " + ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.stdout.write(page())
