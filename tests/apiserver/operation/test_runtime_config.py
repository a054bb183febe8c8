"""Which versions are served."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.runtime_config import effective_version, runtime_config
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from tests.apiserver.asking import ask, read, said
from tests.apiserver.in_process import Running


def served(text: str, gates: Mapping[str, bool] | None = None) -> set[str]:
    found = (one.gvr for one in runtime_config(text).catalog(gates or {}))
    return {"/".join(filter(None, gvr)) for gvr in found}


DEFAULT = served("")
EVERY = served("api/all=true")
SLICES = "resource.k8s.io/v1beta1/resourceslices"
POLICIES = "admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies"


@pytest.mark.parametrize("text", ["", "api/all=true"])
@pytest.mark.parametrize("is_on", [True, False])
def test_pods_are_resized_while_the_gate_is_on(text: str, *, is_on: bool) -> None:
    with answering_as("1.34"):
        found = runtime_config(text).catalog({"InPlacePodVerticalScaling": is_on})
        (pods,) = (one for one in found if one.gvr == ("", "v1", "pods"))
        assert (pods.subresource("resize") is not None) == is_on


def test_without_a_word_the_default_is_served() -> None:
    assert {"/".join(filter(None, one.gvr)) for one in known_resources()} == DEFAULT
    assert DEFAULT < EVERY


@pytest.mark.parametrize(
    ("text", "there", "gone"),
    [
        ("api/beta=true", {SLICES, "v1/pods"}, {POLICIES}),
        ("api/alpha=1", {POLICIES, "v1/pods"}, {SLICES}),
        ("api/all=true,api/beta=false", {POLICIES}, {SLICES}),
        ("api/beta=false,api/all=true", {POLICIES}, {SLICES}),
        ("batch/v1=false", {"apps/v1/deployments"}, {"batch/v1/jobs"}),
        ("batch/v1/jobs=false", {"batch/v1/cronjobs"}, {"batch/v1/jobs"}),
        ("resource.k8s.io/v1beta1", {SLICES}, {"resource.k8s.io/v1beta2/resourceslices"}),
        ("batch/v1=false,batch/v1/jobs=true", {"batch/v1/jobs"}, {"batch/v1/cronjobs"}),
        ("api/all=false,v1=true", {"v1/pods"}, {"apps/v1/deployments"}),
        ("api/v1=false", {"apps/v1/deployments"}, {"v1/pods"}),
    ],
)
def test_what_says_more_counts_more(text: str, there: set[str], gone: set[str]) -> None:
    found = served(text)
    assert there <= found
    assert not gone & found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("invented/v1=true", "unknown api groups invented: `invented/v1` is not served"),
        ("batch/v9", "unknown api groups batch: `batch/v9` is not served"),
        ("api/all=perhaps", "invalid value of api/all=perhaps"),
    ],
)
def test_what_nobody_can_mean(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        runtime_config(text)


def test_a_server_knows_no_other() -> None:
    running = Running(Settings(runtime_config=runtime_config("batch/v1/jobs=false")))
    try:
        assert ask(running, "GET", "/apis/batch/v1/jobs").code == 404
        names = [one["name"] for one in read(ask(running, "GET", "/apis/batch/v1"))["resources"]]
        assert "cronjobs" in names
        assert "jobs" not in names
    finally:
        running.close()


def test_some_kinds_need_a_gate_as_well() -> None:
    bundles = "certificates.k8s.io/v1beta1/clustertrustbundles"
    assert bundles not in EVERY
    assert bundles not in served("certificates.k8s.io/v1beta1=true")
    assert bundles in served("api/all=true", {"ClusterTrustBundle": True})
    assert not any(one.startswith("storagemigration.k8s.io/") for one in EVERY)


@pytest.mark.parametrize(
    ("binary", "emulated", "compatible", "versions"),
    [
        ("1.36", [], [], ("1.36", "1.36", "1.35")),
        ("1.36", ["1.35"], [], ("1.36", "1.35", "1.34")),
        ("1.36", ["kube=v1.33"], [], ("1.36", "1.33", "1.33")),
        ("1.36", [" kube = 1.34.0"], ["1.33"], ("1.36", "1.34", "1.33")),
        ("1.36", [], ["1.36"], ("1.36", "1.36", "1.36")),
        ("1.31", [], [], ("1.31", "1.31", "1.30")),
        ("1.30", [], [], ("1.30", "1.30", "1.29")),
    ],
)
def test_emulated_releases(
    binary: str, emulated: list[str], compatible: list[str], versions: tuple[str, str, str]
) -> None:
    found = effective_version(binary, emulated, compatible)
    assert (found.binary, found.emulation, found.min_compatibility) == versions


def test_versions_that_come_later_than_what_is_emulated() -> None:
    message = (
        "cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have "
        "been introduced after the current version 1.33. Consider setting "
        "--runtime-config-emulation-forward-compatible=true"
    )
    with answering_as("1.36", "1.32", "1.33"):
        with pytest.raises(ValueError, match=f"^{message}$"):
            runtime_config("resource.k8s.io/v1=true")
        assert runtime_config("resource.k8s.io/v1beta2=true").switches


@pytest.mark.parametrize(
    ("emulated", "compatible", "message"),
    [
        (["1.37"], [], "emulation version 1.37 is not between [1.33, 1.36.0]"),
        (["1.29"], [],
         "[emulation version 1.29 is not between [1.33, 1.36.0], "
         "minCompatibilityVersion version 1.33 is not between [1.33, 1.29]]"),
        (["1.35"], ["1.36"],
         "minCompatibilityVersion version 1.36 is not between [1.33, 1.35]"),
        ([], ["1.29"], "minCompatibilityVersion version 1.29 is not between [1.33, 1.36]"),
        (["1.35.1"], [], "patch version not allowed, got: kube=1.35.1"),
        (["x"], [], 'could not parse "x" as version'),
        (["1"], [], 'illegal version string "1"'),
        (["foo=1.35"], [], "component not registered: foo"),
        (["1.35", "kube=1.34"], [], "duplicate version flag, kube=1.35 and kube=1.34"),
    ],
)  # fmt: skip
def test_releases_that_cannot_be_emulated(
    emulated: list[str], compatible: list[str], message: str
) -> None:
    """The messages are those of kube-apiserver 1.36.2."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        effective_version("1.36", emulated, compatible)


def test_a_release_without_the_option() -> None:
    with pytest.raises(ValueError, match="unknown flag: --emulated-version"):
        effective_version("1.30", ["1.30"])


@pytest.fixture(scope="module")
def emulating() -> Iterator[Running]:
    effective = effective_version("1.36", ["1.35"], ["1.33"])
    running = Running(Settings(effective.emulation, effective=effective))
    yield running
    running.close()


def test_an_emulating_server_says_so(emulating: Running) -> None:
    document = read(ask(emulating, "GET", "/version"))
    assert [document[name] for name in ("minor", "emulationMinor", "minCompatibilityMinor")] == [
        *("36", "35", "33")
    ]
    assert document["gitVersion"].startswith("v1.36.")


def test_an_emulating_server_has_the_older_kinds_and_defaults(emulating: Running) -> None:
    policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
    assert ask(emulating, "GET", policies).code == 404


def test_new_expressions_use_what_the_oldest_partner_knows(emulating: Running) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "[1, 1].distinct().size() == 1"}],
        },
    }
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All"
    assert "undeclared reference to 'distinct'" in said(ask(emulating, "POST", path, policy))[1]
