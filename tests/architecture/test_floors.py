"""How much stands on one floor, how much one door shows, and that names are nobody else's."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from tests.architecture.rooms import DOORS
from tests.architecture.source_tree import MODULES, PACKAGES, exported, is_package

MAX_FLOOR = 14
"""Modules in one folder, besides its `__init__`; sub-folders are not counted."""

MAX_DOOR = 30
"""Names of one door."""

DRAWERS = {"base", "common", "helpers", "manager", "misc", "shared", "utils"}
"""Names that say nothing of what is inside."""

SHARED_NAMES: dict[str, tuple[set[str], str]] = {
    "audit": (
        {"celadon.cli.commands.audit", "celadon.serve.audit"},
        "the command, and the audit log of a server",
    ),
    "cluster": (
        {"celadon.kube.validation.cluster", "celadon.webhook.cluster"},
        "validation of kinds that are the cluster's own, and the cluster that a webhook serves",
    ),
    "endpoints": (
        {"celadon.cli.checking.sending.endpoints", "celadon.serve.rest.endpoints"},
        "which endpoint an object is sent to, and what an endpoint can be asked for",
    ),
    "controllers": (
        {"celadon.kube.validation.workloads.controllers", "celadon.serve.controllers"},
        "validation of the kinds that workload controllers read, and the server's own controllers",
    ),
    "errors": (
        {"celadon.cel.errors", "celadon.kube.errors", "celadon.store.errors"},
        "the exceptions of a room, in every room under this name",
    ),
    "lint": (
        {"celadon.admission.lint", "celadon.cli.commands.lint"},
        "a command is called as its user calls it",
    ),
    "checking": (
        {"celadon.cel.checking", "celadon.cli.checking"},
        "types of expressions, and the command `check`: each is its room's word for it",
    ),
    "library": (
        {"celadon.cel.library", "celadon.kube.library"},
        "the functions of the language, and those that Kubernetes adds",
    ),
    "protobuf": (
        {"celadon.cel.protobuf", "celadon.kube.protobuf"},
        "messages as values of the language, and the bodies of requests and answers",
    ),
    "reading": (
        {"celadon.cli.reading", "celadon.serve.rest.reading"},
        "reading files, and objects from the store",
    ),
    "registry": (
        {"celadon.cel.protobuf.registry", "celadon.kube.registry"},
        "a registry of message types, and upstream's word for where writes go through",
    ),
    "strategy": (
        {"celadon.admission.registration.strategy", "celadon.kube.registry.strategy"},
        "what is special about writes of a kind, and of the kinds of registration",
    ),
    "rules": (
        {"celadon.admission.lint.rules", "celadon.kube.custom.rules"},
        "rules of the linter, and validation rules (`x-kubernetes-validations`)",
    ),
    "schemas": (
        {"celadon.cli.schemas", "celadon.kube.schemas"},
        "the model, and the files and servers that the command `schema` reads it from",
    ),
    "serve": (
        {"celadon.cli.commands.serve", "celadon.serve"},
        "a command is called as its user calls it",
    ),
    "webhook": (
        {"celadon.cli.commands.webhook", "celadon.webhook"},
        "a command is called as its user calls it",
    ),
    "trees": (
        {"celadon.admission.lint.trees", "celadon.cel.re2.trees"},
        "trees of expressions as the linter walks them, and trees of patterns",
    ),
}
"""Names that more than one module has: which, and why a reader would expect it."""


def test_a_floor_has_about_a_dozen_modules() -> None:
    floors = Counter(one.rpartition(".")[0] for one in MODULES if not is_package(one))
    assert {floor: n for floor, n in floors.items() if n > MAX_FLOOR} == {}


@pytest.mark.parametrize("door", sorted(DOORS & set(MODULES)))
def test_a_door_has_few_names(door: str) -> None:
    assert len(exported(door)) <= MAX_DOOR


def test_packages_that_show_names_are_doors() -> None:
    assert {one for one in PACKAGES if exported(one)} - DOORS - INNER_DOORS.keys() == set()


INNER_DOORS = {
    "celadon.cel.protobuf": "on top of an optional dependency, so that nobody loads it by accident",
    "celadon.cel.re2": "a regular expression engine that has never heard of CEL",
}
"""Packages with public names that other rooms do not use."""


def test_names_of_modules_are_theirs_alone() -> None:
    named = defaultdict(set)
    for module in MODULES:
        if not module.endswith("__main__"):
            named[module.rpartition(".")[2]].add(module)
    shared = {name: found for name, found in named.items() if len(found) > 1}
    assert shared == {name: among for name, (among, _) in SHARED_NAMES.items()}


def test_no_drawers() -> None:
    assert [one for one in MODULES if one.rpartition(".")[2] in DRAWERS] == []
