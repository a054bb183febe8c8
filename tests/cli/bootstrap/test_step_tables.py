"""The tables: what they name is there, and what they send is what a server takes."""

from __future__ import annotations

import pytest

from celadon.cli.bootstrap.bootstrap_report import BootstrapRun
from celadon.cli.bootstrap.cluster_startup import (
    ExistingObject,
    Level,
    RequestBench,
    Sending,
    State,
    actors,
    course_of,
    filled,
    from_template,
    level_of,
    tables,
)
from celadon.cli.check.manifests import policy_sets
from celadon.cli.options import VERSIONS
from tests.cli.bootstrap.lock_outs import manifests_of, simulated

ENTRIES = {one.name: one for one in tables()}


def test_names_are_unique() -> None:
    assert len(ENTRIES) == len(tables())


def test_what_is_needed_is_there() -> None:
    for one in tables():
        if not isinstance(one, ExistingObject):
            assert ENTRIES.keys() >= set(one.needs), one.name
        if isinstance(one, Sending) and one.base:
            base = ENTRIES[one.base]
            names = list(ENTRIES)
            assert isinstance(base, ExistingObject | Sending), one.name
            assert names.index(one.base) < names.index(one.name), one.name


def test_every_request_matters() -> None:
    """Whatever is refused keeps some state from coming about."""
    wanted = {need for one in tables() if not isinstance(one, ExistingObject) for need in one.needs}
    assert {one.name for one in tables() if isinstance(one, Sending)} - wanted <= {
        "mirror-pod-etcd-deleted",
        "mirror-pod-kube-controller-manager-deleted",
        "mirror-pod-kube-scheduler-deleted",
        "flow-schema-system-nodes-status",
    }


def test_everybody_sends_something() -> None:
    assert {one.actor.name for one in tables() if isinstance(one, Sending)} == set(actors())


def test_accounts_have_the_groups_that_come_by_themselves() -> None:
    assert actors()["daemon set controller"].user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:kube-system",
        "system:authenticated",
    )


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_without_policies_everything_comes_about(version: str) -> None:
    manifests = manifests_of()
    sets = policy_sets(manifests, version)
    bench = RequestBench(manifests, sets, version)
    found = BootstrapRun(course_of(manifests, sets, bench.webhooks), bench).run()
    assert found.problems == []
    assert {name: one.refusals for name, one in found.sent.items() if one.refusals} == {}
    assert ENTRIES.keys() - found.done == set()


def test_objects_have_all_fields_that_servers_add() -> None:
    """Nothing in them gets lost: no field is misspelled."""
    assert simulated().refused == 0


def test_filling() -> None:
    values = {"name": "web", "port": 80, "labels": {"app": "web"}}
    template = {
        "name": "<name>-<name>",
        "port": "<port>",
        "labels": {"+": "<labels>", "tier": "<other>"},
        "all": ["<labels>", "<port>/tcp"],
    }
    assert filled(template, values) == {
        "name": "web-web",
        "port": 80,
        "labels": {"app": "web", "tier": "<other>"},
        "all": [{"app": "web"}, "80/tcp"],
    }


def test_templates() -> None:
    made = list(from_template("system-namespace", {"name": "shop"}))
    assert [one.name for one in made] == ["namespace-shop"]


def test_levels() -> None:
    assert [one.word for one in Level] == ["safe", "degraded", "deadlocked", "locked-out"]
    assert all(level_of(one.word) is one for one in Level)
    assert max(one.level for one in tables() if isinstance(one, State)) is Level.LOCKED_OUT
