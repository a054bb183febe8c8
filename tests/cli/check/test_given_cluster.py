"""One set-up for all who judge objects from files, and an object on its way through the chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from celadon.cli.check.cluster import Circumstances, Cluster, cluster_of, engines_of
from celadon.cli.check.document_requests import DocumentRequest, Question, ask
from celadon.cli.check.manifests import described, policy_sets
from celadon.cli.check.object_chain import ObjectChain
from celadon.cli.check.plugins import PluginChoice
from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk
from tests.cli.check.test_mutation import OK, mutating
from tests.cli.files import Json, binding, config_map, policy

VERSION, NOW = "1.36", "2026-01-01T00:00:00Z"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"configmaps": "1"}},
}


def documents(*values: Json) -> list[Document]:
    return [Document(Chunk("", json.dumps(one), 1, 0, is_json=True), (), one) for one in values]


def cluster(*values: Json, asks_plugins: bool = False, **circumstances: Any) -> Cluster:
    manifests = described(documents(*values))
    engines = engines_of(policy_sets(manifests, VERSION), VERSION)
    about = Circumstances(VERSION, NOW, **circumstances)
    return cluster_of(manifests, engines, about, asks_plugins=asks_plugins)


def begun(found: Cluster, value: Json) -> ObjectChain:
    (document,) = documents(value)
    asked = ask(document, Question(), found.world.catalog, {}, found.prepare)
    assert isinstance(asked, DocumentRequest), asked
    return found.asking().chain(asked)


def names(policies: Sequence[Any]) -> list[str]:
    return [one.name for one in policies]


def test_a_cluster_has_all_that_judges() -> None:
    found = cluster(policy(), binding(), *OK, QUOTA, plugins=PluginChoice(), asks_plugins=True)
    assert names(found.engines.validating.policies) == ["limit"]
    assert found.engines.mutating is not None
    assert names(found.engines.mutating.policies) == ["ok"]
    assert (found.prepare.plugins is None, found.quotas is None) == (False, False)
    assert not found.problems


def test_plugins_are_asked_only_where_that_is_wanted() -> None:
    found = cluster(QUOTA, plugins=PluginChoice())
    assert (found.prepare.plugins, found.quotas, found.engines.mutating) == (None, None, None)


def test_nobody_mutates_objects_as_they_are_in_files() -> None:
    assert cluster(*OK, defaulting=False).engines.mutating is None


def test_engines_of_a_set_that_is_the_same_stay() -> None:
    engines = cluster(policy(), binding(), *OK).engines
    other = replace(engines.sets, validating=cluster(policy("other")).sets.validating)
    changed = engines.with_sets(other)
    assert names(changed.validating.policies) == ["other"]
    assert changed.mutating is engines.mutating


def test_an_object_before_and_after_it_is_mutated() -> None:
    generated = config_map("", x="no")
    generated["metadata"] = {"generateName": "cm-", "namespace": "default"}
    see_no_name = mutating("ok", "Object{data: {'x': string(has(object.metadata.name))}}")
    chain = begun(cluster(*see_no_name), generated)
    one = chain.mutated()
    before = chain.unmutated()
    assert one.request.object is not None
    assert before.request.object is not None
    assert (before.request.object["data"], one.request.object["data"]) == (
        {"x": "no"},
        {"x": "false"},
    )
    assert one.request.name == one.request.object["metadata"]["name"] == "cm-xxxxx"
    assert before.request.name == "cm-xxxxx"


def test_an_object_that_nobody_changes_is_finished_once() -> None:
    """What a policy is applied to is another object, whether it changes anything or not."""
    never = [{"name": "never", "expression": "false"}]
    chain = begun(cluster(*mutating("ok", "Object{}", matchConditions=never)), config_map())
    assert chain.mutated() is chain.unmutated()


@pytest.mark.parametrize("refuses", ["form", "policy"])
def test_a_refused_object_is_as_the_plugins_leave_it(refuses: str) -> None:
    value = config_map(x="no")
    broken = mutating("zz-broken", "Object{data: {'x': string(1/0)}}")
    if refuses == "form":
        value["stray"] = True
    chain = begun(cluster(*OK, *(broken if refuses == "policy" else ())), value)
    one = chain.mutated()
    assert one.request.object is not None
    assert one.request.object["data"] == {"x": "no"}
    assert one.request.object["metadata"]["uid"]
    if refuses == "form":
        assert chain.early_refusal is not None
        assert chain.before.mutation is None
    else:
        assert chain.before.refusal is not None
        assert "division by zero" in str(chain.before.refusal)
        assert chain.before.mutation is not None
