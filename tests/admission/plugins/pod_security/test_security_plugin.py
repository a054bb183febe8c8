"""PodSecurity: refusals, warnings, annotations."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ObjectWorld
from celadon.admission.plugins import Opinion
from tests.admission.plugins.asking import asked, obj, pod, text, validated, world

PREFIX = "pod-security.kubernetes.io/"


def labelled(**labels: str) -> dict[str, Any]:
    """A namespace; `_` in a key stands for `-`."""
    made = obj("Namespace", "ns")
    made["metadata"]["labels"] = {
        PREFIX + key.replace("_", "-"): value for key, value in labels.items()
    }
    return made


def said(
    value: dict[str, Any], space: dict[str, Any], *, old: Any = None, sub: str = ""
) -> Opinion:
    return validated("PodSecurity", asked(value, old, subresource=sub), world(space))


def notes(opinion: Opinion) -> dict[str, str]:
    return {key.removeprefix(PREFIX): note for key, note in opinion.audit_annotations.items()}


BAD = pod(hostPID=True)
DEPLOYMENT = obj("Deployment", "d", "apps/v1", spec={"template": {"spec": BAD["spec"]}})
VIOLATES = 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
WOULD = 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'


def test_without_labels_anything_goes() -> None:
    opinion = said(BAD, labelled())
    assert (opinion.refusal, opinion.warnings) == (None, ())
    assert notes(opinion) == {"enforce-policy": "privileged:latest"}
    assert said(DEPLOYMENT, labelled()) == Opinion()


def test_what_does_not_matter_is_noted_only_where_anything_goes() -> None:
    """As upstream: that a namespace allows everything is seen before the pods are compared."""
    labels = {**BAD, "metadata": {**BAD["metadata"], "labels": {"a": "b"}}}
    assert notes(said(labels, labelled(), old=BAD)) == {"enforce-policy": "privileged:latest"}
    assert said(labels, labelled(warn="baseline"), old=BAD) == Opinion()


def test_enforced() -> None:
    opinion = said(BAD, labelled(enforce="baseline", warn="baseline"))
    assert text(opinion.refusal) == f'403 pods "p" is forbidden: {VIOLATES}'
    assert (opinion.warnings, notes(opinion)) == ((), {"enforce-policy": "baseline:latest"})
    assert said(pod(), labelled(enforce="baseline")).refusal is None


LEVELS = ("privileged", "baseline", "restricted")


@pytest.mark.parametrize("enforce", LEVELS)
@pytest.mark.parametrize("audit", LEVELS)
@pytest.mark.parametrize("warn", LEVELS)
def test_each_label_counts_for_itself(enforce: str, audit: str, warn: str) -> None:
    opinion = said(BAD, labelled(enforce=enforce, audit=audit, warn=warn))
    assert (opinion.refusal is not None) is (enforce != "privileged")
    assert bool(opinion.warnings) is (enforce == "privileged" and warn != "privileged")
    assert ("audit-violations" in notes(opinion)) is (audit != "privileged")


def test_warned_and_noted() -> None:
    space = labelled(warn="baseline", audit="baseline", audit_version="v1.20")
    opinion = said(BAD, space)
    assert opinion.refusal is None
    assert opinion.warnings == (WOULD,)
    assert notes(opinion) == {
        "enforce-policy": "privileged:latest",
        "audit-violations": WOULD.replace("latest", "v1.20"),
    }


@pytest.mark.parametrize(
    "value",
    [
        DEPLOYMENT,
        obj("PodTemplate", "t", template={"spec": BAD["spec"]}),
        obj("ReplicationController", "c", spec={"template": {"spec": BAD["spec"]}}),
        *(
            obj(kind, "x", version, spec={"template": {"spec": BAD["spec"]}})
            for kind, version in (
                ("DaemonSet", "apps/v1"),
                ("Job", "batch/v1"),
                ("ReplicaSet", "apps/v1"),
                ("StatefulSet", "apps/v1"),
            )
        ),
        obj(
            "CronJob",
            "c",
            "batch/v1",
            spec={"jobTemplate": {"spec": {"template": {"spec": BAD["spec"]}}}},
        ),
    ],
)
def test_templates_are_only_warned_of(value: dict[str, Any]) -> None:
    opinion = said(value, labelled(enforce="baseline", warn="baseline", audit="baseline"))
    assert (opinion.refusal, opinion.warnings) == (None, (WOULD,))
    assert notes(opinion) == {"audit-violations": WOULD}
    assert said(value, labelled(enforce="baseline")) == Opinion(warnings=(WOULD,))
    assert said(value, labelled(enforce="baseline", warn="privileged")) == Opinion()


def test_nothing_to_look_at() -> None:
    empty = obj("ReplicationController", "r", spec={})
    assert said(empty, labelled(warn="baseline")) == Opinion()
    assert said(BAD, labelled(enforce="baseline"), old=BAD, sub="status") == Opinion()


def test_wrong_labels_are_noted() -> None:
    opinion = said(pod(), labelled(enforce="x"))
    assert text(opinion.refusal).startswith(
        '403 pods "p" is forbidden: violates PodSecurity "restr'
    )
    assert notes(opinion)["error"] == (
        "Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]: "
        'Invalid value: "x": must be one of privileged, baseline, restricted'
    )


OTHER_IMAGE = pod(hostPID=True, containers=[{"name": "c", "image": "j"}])
EPHEMERAL = pod(hostPID=True, ephemeralContainers=[{"name": "e", "image": "i"}])
NAMED_ONLY = pod(hostPID=True, ephemeralContainers=[{"name": "e"}])
NOTED = pod({"seccomp.security.alpha.kubernetes.io/pod": "x"}, hostPID=True)
LONGER = pod(hostPID=True, initContainers=[{"name": "n", "image": "i"}])
LABELLED = {**BAD, "metadata": {**BAD["metadata"], "labels": {"a": "b"}}}


@pytest.mark.parametrize(
    ("new", "old", "sub", "looked_at"),
    [
        (LABELLED, BAD, "", False),
        (OTHER_IMAGE, BAD, "", True),
        (NOTED, BAD, "", False),
        (LONGER, BAD, "", True),
        (EPHEMERAL, BAD, "ephemeralcontainers", True),
        (NAMED_ONLY, BAD, "ephemeralcontainers", True),
        (EPHEMERAL, EPHEMERAL, "ephemeralcontainers", False),
    ],
)
def test_updates_that_matter(new: Any, old: Any, sub: str, looked_at: bool) -> None:
    opinion = said(new, labelled(enforce="baseline"), old=old, sub=sub)
    assert (opinion.refusal is not None) == looked_at


# --- namespaces ---


def stricter(new: dict[str, Any], old: dict[str, Any], *pods: dict[str, Any]) -> Opinion:
    return validated("PodSecurity", asked(new, old), ObjectWorld([old, *pods]))


def running(name: str, controller: str = "", **spec: Any) -> dict[str, Any]:
    made = pod(**spec)
    made["metadata"] = {"name": name, "namespace": "ns"}
    if controller:
        made["metadata"]["ownerReferences"] = [{"uid": controller, "controller": True}]
    return made


PODS = (
    running("b", "rs", hostPID=True),
    running("a", "rs", hostPID=True),
    running("c", hostPID=True, hostIPC=True),
    running("d", hostNetwork=True, volumes=[{"name": "v", "hostPath": {}}]),
    running("fine"),
)


def test_a_stricter_namespace_is_told_of_its_pods() -> None:
    opinion = stricter(labelled(enforce="baseline"), labelled(), *PODS)
    assert opinion.refusal is None
    assert opinion.warnings == (
        'existing pods in namespace "ns" violate the new PodSecurity enforce level '
        '"baseline:latest"',
        "a (and 2 other pods): host namespaces",
        "d: host namespaces, hostPath volumes",
    )


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (labelled(enforce="baseline"), labelled(enforce="baseline")),
        (labelled(enforce="privileged"), labelled(enforce="restricted")),
        (labelled(enforce="baseline"), labelled(enforce="restricted")),
        (labelled(warn="restricted"), labelled()),
    ],
)
def test_namespaces_that_are_not_stricter(new: dict[str, Any], old: dict[str, Any]) -> None:
    assert stricter(new, old, *PODS) == Opinion()


def test_another_version_is_looked_at() -> None:
    old = labelled(enforce="restricted")
    assert stricter(labelled(enforce="baseline", enforce_version="v1.30"), old, *PODS).warnings


def test_wrong_labels_of_namespaces() -> None:
    wrong = labelled(enforce="x")
    message = (
        '422 Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: '
        'Invalid value: "x": must be one of privileged, baseline, restricted'
    )
    assert text(validated("PodSecurity", asked(wrong)).refusal) == message
    assert text(stricter(wrong, labelled()).refusal) == message
    assert stricter(wrong, wrong).refusal is None


def test_too_many_pods() -> None:
    pods = [running(f"p{i:04}") for i in range(3001)]
    opinion = stricter(labelled(enforce="baseline"), labelled(), *pods)
    assert opinion.warnings == (
        "new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods",
    )
    assert stricter(labelled(enforce="baseline"), labelled(), *pods[:-1]).warnings == ()


NOT_LOOKED_AT = ("attach", "binding", "eviction", "exec", "log", "portforward", "proxy", "status")


@pytest.mark.parametrize("sub", ["", "ephemeralcontainers", "resize", *NOT_LOOKED_AT])
def test_subresources(sub: str) -> None:
    opinion = said(BAD, labelled(enforce="baseline"), old=OTHER_IMAGE, sub=sub)
    assert (opinion == Opinion()) is (sub in NOT_LOOKED_AT)
