"""The end of the write path: refusals before policies, and the request that policies get."""

from __future__ import annotations

from typing import Any

from celadon.admission.request import Operation
from celadon.admission.write_requests import deletion_options, refusal, request_of, write_options
from celadon.kube import GroupVersionResource, Ruling, User
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Surroundings, Target, WriteOptions, create, delete
from celadon.kube.resources import known_resources

ALICE = User("alice", ("devs",))
CONTEXT = DefaultingContext()


def target(group: str, resource: str, name: str = "", namespace: str = "ns") -> Target:
    found = known_resources().by_gvr(GroupVersionResource(group, "v1", resource))
    assert found is not None
    return Target(found, namespace if found.namespaced else "", name)


PODS = target("", "pods")


def pod(**container: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i", **container}]}
    return create.created({"metadata": {"name": "p"}, "spec": spec}, PODS, CONTEXT)


def test_writers_of_policies_have_to_read_their_params() -> None:
    policies = target("admissionregistration.k8s.io", "validatingadmissionpolicies")
    rule = {
        "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
    }  # fmt: skip
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "true"}],
    }
    made = create.created({"metadata": {"name": "p"}, "spec": spec}, policies, CONTEXT)
    assert refusal(policies, made, None, Surroundings(user=ALICE)) is None
    asked = Surroundings(user=ALICE, authorize=lambda _: (Ruling.NO_OPINION, "", None))
    refused = refusal(policies, made, None, asked)
    assert refused is not None
    assert 'must have "get" permission on all objects of the referenced paramKind' in str(refused)


def test_requests() -> None:
    request = request_of(PODS, Operation.CREATE, pod(), None, ALICE)
    assert (request.name, request.namespace, request.kind.kind) == ("p", "ns", "Pod")
    assert request.options == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
    spaces = target("", "namespaces", "n")
    assert request_of(spaces, Operation.DELETE, None, {}, ALICE).namespace == "n"
    assert request_of(PODS, Operation.DELETE, None, pod(), ALICE, name="").name == ""
    assert request_of(PODS, Operation.CREATE, pod(), None, ALICE, name="q").name == "q"


def test_a_namespace_with_a_generated_name_is_in_none() -> None:
    made = {"metadata": {"generateName": "n", "name": "nx"}}
    request = request_of(target("", "namespaces", ""), Operation.CREATE, made, None, ALICE, name="")
    assert (request.name, request.namespace) == ("nx", "")


def test_options() -> None:
    given = WriteOptions(("All",), "me", "Strict")
    assert write_options(Operation.UPDATE, given) == {
        "kind": "UpdateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "dryRun": ["All"],
        "fieldManager": "me",
        "fieldValidation": "Strict",
    }
    assert write_options(Operation.CONNECT, given) is None
    asked = delete.DeleteOptions(grace=0, propagation="Orphan", preconditions={"uid": "u"})
    assert deletion_options(asked) == {
        "kind": "DeleteOptions",
        "apiVersion": "meta.k8s.io/v1",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Orphan",
    }
    every = delete.DeleteOptions(orphan=False, dry_run=("All",))
    assert deletion_options(every) == {
        "kind": "DeleteOptions",
        "apiVersion": "meta.k8s.io/v1",
        "orphanDependents": False,
        "dryRun": ["All"],
    }
    unconditional = delete.delete_options({"preconditions": {}}, {})
    assert deletion_options(unconditional) == {
        "kind": "DeleteOptions",
        "apiVersion": "meta.k8s.io/v1",
        "preconditions": {},
    }
    options = {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}
    assert write_options(Operation.UPDATE, WriteOptions(force=True)) == options
