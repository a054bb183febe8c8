"""What policies may look up, from manifests."""

from __future__ import annotations

from typing import Any

from celadon.admission import ObjectWorld, implicit_namespace
from celadon.cli.checking.asking.webhook_documents import is_configuration
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import PolicySets
from celadon.cli.reading.problems import Problem
from celadon.kube.catalogue import known_resources
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.well_known_values import SYSTEM_NAMESPACES


def given_world(
    manifests: Manifests, policies: PolicySets, prepare: Prepare, *, whole: bool = False
) -> tuple[ObjectWorld, list[Problem]]:
    """What policies may look up: the given objects, and any namespace that an object is in, unless
    the objects are the `whole` cluster.

    They are as they would be in the cluster: defaulted, namespaces labelled. Of what is to be
    admitted only namespaces, params and what plugins look at are looked up; what is wrong with it
    is said when it is judged.
    """
    completed = {("v1", "Namespace"), ("v1", "ResourceQuota")}
    completed.update(
        (one.gvk.api_version, one.gvk.kind) for one in known_resources() if one.gvr in LOOKED_UP
    )
    for placed in (one for found in policies.all for one in found.policies.values()):
        kind = placed.value.spec.param_kind
        if kind is not None:
            completed.add((kind.api_version, kind.kind))
    objects: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for document in manifests.also_looked_up:
        value: dict[str, Any] | Problem = document.value
        if (document.value["apiVersion"], document.value["kind"]) in completed:
            value = prepare.existing(document)
        if not isinstance(value, Problem):
            objects.append(value)
    for document in manifests.looked_up:
        if is_configuration(document):  # what is wrong with one is said where it is used
            continue
        value = prepare.existing(document)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            objects.append(value)
    if whole:
        objects[:0] = [dict(implicit_namespace(name)) for name in SYSTEM_NAMESPACES]
    return ObjectWorld(objects, implicit_namespaces=not whole), problems
