"""What is only looked up is one of the cluster's objects, or an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.admission import ADMIN
from celadon.cli.audit.audit_inputs import preparation
from celadon.cli.check.object_preparation import Endpoint, endpoint_of
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem
from celadon.kube import GroupVersionKind
from celadon.kube.registry import Target
from celadon.kube.resources.api_resources import known_resources
from tests.cli.check.test_given_cluster import documents
from tests.cli.files import Json, run, write

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "runtimeClassName": "r",
        "priorityClassName": "p",
    },
}


def thing(api_version: str, kind: str, **fields: Any) -> Json:
    """An object of the cluster."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields}


def definition(**changes: Any) -> Json:
    """A CRD, with changes to its version."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, **changes}
    names = changes.pop("names", {"plural": "as", "kind": "A"})
    version.pop("names", None)
    spec = {"group": "b.io", "scope": "Namespaced", "names": names, "versions": [version]}
    made = thing("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec=spec)
    made["metadata"]["name"] = "as.b.io"
    return made


SCALES = (
    "kind `Scale` belongs to several subresources: deployments/scale, replicasets/scale, "
    "replicationcontrollers/scale, statefulsets/scale"
)


@pytest.mark.parametrize(
    ("kind", "subresource", "found"),
    [
        ("v1 Pod", "", ("pods", "", True, False)),
        ("v1 Pod", "status", ("pods", "status", False, False)),
        ("v1 Pod", "pods/status", ("pods", "status", False, False)),
        ("v1 Binding", "", ("bindings", "", False, False)),
        ("policy/v1 Eviction", "", ("pods", "eviction", False, False)),
        ("autoscaling/v1 Scale", "deployments/scale", ("deployments", "scale", False, False)),
        ("x.io/v1 Widget", "", ("widgets", "", True, True)),
        # A version that a server may be told to serve.
        ("resource.k8s.io/v1beta2 DeviceClass", "", ("deviceclasses", "", True, False)),
    ],
)
def test_where_an_object_is_sent(
    kind: str, subresource: str, found: tuple[str, str, bool, bool]
) -> None:
    """Resource, subresource, whether it is stored there, and whether that is guessed."""
    (document,) = documents(thing(*kind.split()))
    endpoint = endpoint_of(document, subresource, known_resources())
    assert isinstance(endpoint, Endpoint)
    assert found == (
        *(endpoint.resource.resource, endpoint.subresource),
        *(endpoint.is_stored, endpoint.is_guessed),
    )
    assert endpoint.kind.kind == kind.split()[1]


@pytest.mark.parametrize(
    ("kind", "subresource", "message", "help"),
    [
        ("v1 Pod", "nope", "kind `Pod` has no subresource `nope`", ""),
        ("x.io/v1 Widget", "status", "kind `Widget` has no subresource `status`", ""),
        ("autoscaling/v1 Scale", "", SCALES, "say which: `--subresource deployments/scale`"),
        ("autoscaling/v1 Scale", "scale", SCALES, "say which: `--subresource deployments/scale`"),
        (
            *("apps/v1 Pod", "", 'no matches for kind "Pod" in version "apps/v1"'),
            "did you mean `apiVersion: v1`?",
        ),
        ("v1 Pods", "", 'no matches for kind "Pods" in version "v1"', "did you mean `Pod`?"),
        # A kind that a feature gate keeps back.
        (
            *("certificates.k8s.io/v1alpha1 ClusterTrustBundle", ""),
            'no matches for kind "ClusterTrustBundle" in version "certificates.k8s.io/v1alpha1"',
            "",
        ),
        ("a/b/c X", "", "unexpected GroupVersion string: a/b/c", ""),
    ],
)
def test_an_object_that_is_sent_nowhere(
    kind: str, subresource: str, message: str, help: str
) -> None:
    (document,) = documents(thing(*kind.split()))
    problem = endpoint_of(document, subresource, known_resources())
    assert isinstance(problem, Problem)
    assert (problem.message, problem.help, problem.line) == (message, help, 1)


BAD = [
    (thing("v1", "LimitRange", spec="x"), "cannot unmarshal string"),
    (thing("v1", "LimitRange", spec={"limits": ["x"]}), "cannot unmarshal string"),
    (
        thing("v1", "LimitRange", spec={"limits": [{"type": "Pod", "max": {"cpu": "z"}}]}),
        "quantities must match",
    ),
    (thing("scheduling.k8s.io/v1", "PriorityClass", value="abc"), "cannot unmarshal string"),
    (thing("node.k8s.io/v1", "RuntimeClass", handler=3), "cannot unmarshal number"),
    (thing("v1", "ServiceAccount", secrets=3), "cannot unmarshal number"),
    (thing("rbac.authorization.k8s.io/v1", "Role", rules=3), "cannot unmarshal number"),
    (definition(names={"plural": "as", "kind": "A", "shortNames": 3}), "must be a list"),
    (definition(subresources="x"), "must be a map"),
    (definition(selectableFields=[{}]), "selectableFields[0].jsonPath` must be text"),
    (definition(schema=None), "schema.openAPIV3Schema: Required value"),
    (
        thing(
            "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", spec=definition()["spec"]
        ),
        "no matches for kind",
    ),
]


@pytest.mark.parametrize(("found", "said"), BAD)
def test_an_unusable_one_is_an_error(
    found: Json, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = write(tmp_path / "cluster.json", found)
    code, _, err = run(capsys, "check", "-f", cluster, write(tmp_path / "pod.json", POD))
    assert code == Exit.USAGE
    assert err.startswith(f"error: {cluster}:")
    assert said in err


def test_amounts_may_be_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = [{"type": "Container", "default": {"cpu": 1}}]
    overhead = {"podFixed": {"cpu": 1}}
    runtime = thing("node.k8s.io/v1", "RuntimeClass", handler="h", overhead=overhead)
    runtime["metadata"]["name"] = "r"
    priority = thing("scheduling.k8s.io/v1", "PriorityClass", value=5)
    priority["metadata"]["name"] = "p"
    limited = thing("v1", "LimitRange", spec={"limits": limits})
    cluster = write(tmp_path / "cluster.json", runtime, priority, limited)
    code, out, _ = run(capsys, "check", "-f", cluster, write(tmp_path / "pod.json", POD))
    assert (code, "1 admitted" in out) == (0, True)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [({}, Exit.DENIED), ({"resource.kubernetes.io/admin-access": "true"}, Exit.OK)],
)
def test_validation_looks_at_the_namespace(
    labels: Json, expected: Exit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only some namespaces may ask for devices as administrators do."""
    namespace = thing("v1", "Namespace")
    namespace["metadata"]["labels"] = labels
    wish = {"name": "a", "exactly": {"deviceClassName": "x", "adminAccess": True}}
    claim = thing("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [wish]}})
    claim["metadata"]["namespace"] = "x"
    cluster = write(tmp_path / "cluster.json", namespace)
    code, out, _ = run(capsys, "check", "-f", cluster, write(tmp_path / "claim.json", claim))
    assert code == expected
    assert ("spec.devices.requests[0].adminAccess: Forbidden" in out) is (expected != Exit.OK)


OLD_STATUS: Json = {
    "acceptedNames": {"kind": "", "plural": ""},
    "conditions": [],
    "storedVersions": [],
}


def test_the_status_of_a_definition_is_the_servers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As every definition of controller-gen 0.6 has one."""
    cluster = write(tmp_path / "cluster.json", definition() | {"status": OLD_STATUS})
    given = write(tmp_path / "a.json", thing("b.io/v1", "A"))
    code, out, _ = run(capsys, "check", "-f", cluster, given)
    assert (code, "1 admitted" in out) == (0, True)


def test_objects_of_a_refused_definition_are_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = write(tmp_path / "cluster.json", definition(schema=None))
    given = write(tmp_path / "a.json", thing("b.io/v1", "A"), POD)
    code, out, err = run(capsys, "check", "-f", cluster, given)
    assert (code, "1 admitted" in out) == (Exit.USAGE, True)
    assert "not judged: the CustomResourceDefinition of this kind is refused" in err


def test_what_is_nested_hundreds_deep_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeps = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"o": keeps}}}
    cluster = write(tmp_path / "cluster.json", definition(schema=schema))
    value: Any = 1
    for _ in range(240):
        value = {"a": value}
    given = write(tmp_path / "a.json", thing("b.io/v1", "A", o=value))
    code, out, _ = run(capsys, "check", "-f", cluster, given)
    assert (code, "1 admitted" in out) == (0, True)


@pytest.mark.parametrize(
    ("value", "old", "problem"),
    [
        (POD, None, ""),
        (
            {**POD, "metadata": {"name": "web", "namespace": "shop"}},
            None,
            ":1: the namespace of the provided object does not match "
            "the namespace sent on the request",
        ),
        ({**POD, "spec": {"containers": 5}}, None, ':1: Pod in version "v1" cannot be '),
        (POD, POD, ""),
        (
            {**POD, "metadata": {"name": "web", "namespace": "shop"}},
            POD,
            "",
        ),
    ],
)
def test_what_a_server_says_before_any_plugin(value: Json, old: Json | None, problem: str) -> None:
    prepare = preparation((), ADMIN, "2026-01-01T00:00:00Z", "1.36")
    pods = known_resources().by_gvk(GroupVersionKind("", "v1", "Pod"))
    assert pods is not None
    (document,) = documents(value)
    begun = prepare.begun(document, Target(pods, "default"), old)
    assert isinstance(begun, Problem) is bool(problem)
    if isinstance(begun, Problem):
        assert begun.text().startswith(problem)
