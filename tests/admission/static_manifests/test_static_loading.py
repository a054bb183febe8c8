"""Documents of files to the objects of a plugin, or the first thing that is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.registration_types import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    WebhookConfiguration,
)
from celadon.admission.static_manifests import (
    MUTATING_POLICIES,
    MUTATING_WEBHOOKS,
    STATIC_PLUGINS,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
    ManifestError,
    StaticDocument,
    StaticObjects,
    StaticPlugin,
    load,
)
from celadon.kube.go import json_text, read_json
from celadon.kube.resources.admission_plugins import PLUGINS
from tests.admission.building import policy_document
from tests.admission.webhooks.hooking import webhook

GROUP = "admissionregistration.k8s.io"
SPEC = policy_document()["spec"]


def document(kind: str, name: str = "", version: str = "v1", **members: Any) -> dict[str, Any]:
    meta = {"name": name} if name else {}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": meta, **members}


def vap(name: str = "p.static.k8s.io", **more: Any) -> dict[str, Any]:
    return document("ValidatingAdmissionPolicy", name, spec={**SPEC, **more})


def vapb(name: str = "b.static.k8s.io", policy: str = "p.static.k8s.io") -> dict[str, Any]:
    spec = {"policyName": policy, "validationActions": ["Deny"]}
    return document("ValidatingAdmissionPolicyBinding", name, spec=spec)


def vwc(name: str = "w.static.k8s.io", **more: Any) -> dict[str, Any]:
    return document("ValidatingWebhookConfiguration", name, webhooks=[webhook(**more)])


def loaded(*files: Any, plugin: StaticPlugin = VALIDATING_POLICIES) -> StaticObjects:
    """Of files with one document each, `/d/0.yaml` and so on."""
    texts = [one if isinstance(one, str) else json_text(one) for one in files]
    return load(
        (
            StaticDocument(f"/d/{number}.yaml", read_json(text, merge=True), text)
            for number, text in enumerate(texts)
        ),
        plugin,
    )


def refusal(*files: Any, plugin: StaticPlugin = VALIDATING_POLICIES) -> str:
    with pytest.raises(ManifestError) as wrong:
        loaded(*files, plugin=plugin)
    return str(wrong.value)


def listed(*items: Any, kind: str = "List", version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "items": list(items)}


@pytest.mark.parametrize(
    "files",
    [
        [vap(), vapb()],
        [vapb(), vap()],
        [listed(vap(), listed(vapb()))],
        [
            listed(vap(), kind="ValidatingAdmissionPolicyList", version=f"{GROUP}/v1"),
            listed(vapb(), kind="ValidatingAdmissionPolicyBindingList", version=f"{GROUP}/v1"),
        ],
    ],
    ids=["files", "binding first", "lists in lists", "lists of a kind"],
)
def test_policies_and_bindings(files: list[Any]) -> None:
    found = loaded(*files)
    assert [one.name for one in found.of(ValidatingAdmissionPolicy)] == ["p.static.k8s.io"]
    assert [one.name for one in found.of(ValidatingAdmissionPolicyBinding)] == ["b.static.k8s.io"]
    assert found.of(ValidatingAdmissionPolicy)[0].spec.failure_policy == "Fail", (
        "defaults are filled in"
    )
    assert len(found.objects) == 2


def test_webhooks() -> None:
    found = loaded(vwc(), plugin=VALIDATING_WEBHOOKS)
    assert [one.name for one in found.of(WebhookConfiguration)] == ["w.static.k8s.io"]


def test_nothing_at_all() -> None:
    assert loaded() == StaticObjects()


REFUSED: dict[str, tuple[StaticPlugin, list[Any], str]] = {
    "no name": (
        VALIDATING_POLICIES,
        [vap("")],
        'error loading /d/0.yaml: ValidatingAdmissionPolicy "": metadata.name: Required value: '
        "name or generateName is required",
    ),
    "no suffix": (
        VALIDATING_POLICIES,
        [vap(), vap("p")],
        'error loading /d/1.yaml: "p" in file "/d/1.yaml" must have a name ending with '
        '".static.k8s.io"',
    ),
    "twice": (
        VALIDATING_POLICIES,
        [vap(), vap()],
        'error loading /d/1.yaml: duplicate name "p.static.k8s.io" found in file "/d/1.yaml" '
        '(previously seen in "/d/0.yaml")',
    ),
    "invalid": (
        VALIDATING_POLICIES,
        [vap(validations=[{"expression": "1"}])],
        'error loading /d/0.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": '
        'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ),
    "params": (
        VALIDATING_POLICIES,
        [vap(paramKind={"apiVersion": "v1", "kind": "ConfigMap"})],
        'error loading /d/0.yaml: ValidatingAdmissionPolicy "p.static.k8s.io": spec.paramKind is '
        "not supported for static manifests",
    ),
    "a dangling binding": (
        VALIDATING_POLICIES,
        [vapb()],
        'binding "b.static.k8s.io" references policy "p.static.k8s.io" which does not exist in '
        "the manifest directory",
    ),
    "an unknown field": (
        VALIDATING_POLICIES,
        [vap(rules=1)],
        'error loading /d/0.yaml: strict decoding error: unknown field "spec.rules"',
    ),
    "a field twice": (
        VALIDATING_POLICIES,
        [json_text(vap())[:-1] + ',"spec":{}}'],
        'error loading /d/0.yaml: strict decoding error: duplicate field "spec"',
    ),
    "a wrong value": (
        VALIDATING_POLICIES,
        [vap(validations=1)],
        "error loading /d/0.yaml: json: cannot unmarshal number into Go struct field "
        "ValidatingAdmissionPolicySpec.spec.validations of type []v1.Validation",
    ),
    "policies of the other type": (
        MUTATING_POLICIES,
        [vap()],
        "error loading /d/0.yaml: unsupported resource type *v1.ValidatingAdmissionPolicy",
    ),
    "an older version": (
        VALIDATING_POLICIES,
        [document("ValidatingAdmissionPolicy", "p.static.k8s.io", "v1beta1", spec=SPEC)],
        "error loading /d/0.yaml: unsupported resource type *v1beta1.ValidatingAdmissionPolicy",
    ),
    "webhooks of the other type, listed": (
        MUTATING_WEBHOOKS,
        [listed(vwc(), kind="ValidatingWebhookConfigurationList", version=f"{GROUP}/v1")],
        "error loading /d/0.yaml: unsupported resource type *v1.ValidatingWebhookConfigurationList",
    ),
    "a service": (
        VALIDATING_WEBHOOKS,
        [vwc(clientConfig={"service": {"namespace": "n", "name": "s"}})],
        'error loading /d/0.yaml: webhook "a.hooks.example.com" in "w.static.k8s.io" (file '
        '"/d/0.yaml"): clientConfig.service is not supported for static manifests; use '
        "clientConfig.url instead",
    ),
    "something else": (
        VALIDATING_POLICIES,
        [{"apiVersion": "v1", "kind": "ConfigMap"}],
        'error loading /d/0.yaml: no kind "ConfigMap" is registered for version "v1" in scheme '
        '"k8s.io/kubernetes/pkg/admission/plugin/policy/manifest/loader/validating_loader.go:35"',
    ),
    "no kind": (
        VALIDATING_POLICIES,
        ['{"apiVersion":"v1"}'],
        "error loading /d/0.yaml: Object 'Kind' is missing in '{\"apiVersion\":\"v1\"}'",
    ),
    "no version": (
        VALIDATING_POLICIES,
        ['{"kind":"List"}'],
        "error loading /d/0.yaml: Object 'apiVersion' is missing in '{\"kind\":\"List\"}'",
    ),
    "an item that is nothing": (
        VALIDATING_POLICIES,
        [listed({})],
        "error loading /d/0.yaml: failed to decode list item: Object 'Kind' is missing in '{}'",
    ),
    "an item that is not what it says": (
        VALIDATING_POLICIES,
        [listed(vap(nope=1))],
        "error loading /d/0.yaml: failed to decode list item: strict decoding error: unknown "
        'field "spec.nope"',
    ),
    "an item of another kind": (
        VALIDATING_POLICIES,
        [listed(vap(), vwc())],
        "error loading /d/0.yaml: unsupported resource type *v1.ValidatingWebhookConfiguration",
    ),
    "a list with more": (
        VALIDATING_POLICIES,
        [{**listed(vap()), "spec": 1}],
        'error loading /d/0.yaml: strict decoding error: unknown field "spec"',
    ),
    "a list without any": (
        VALIDATING_POLICIES,
        [{**listed(), "items": 5}],
        "error loading /d/0.yaml: json: cannot unmarshal number into Go struct field List.items "
        "of type []runtime.RawExtension",
    ),
    "a list of policies without any": (
        VALIDATING_POLICIES,
        [{**listed(kind="ValidatingAdmissionPolicyList", version=f"{GROUP}/v1"), "items": {}}],
        "error loading /d/0.yaml: json: cannot unmarshal object into Go struct field "
        "ValidatingAdmissionPolicyList.items of type []v1.ValidatingAdmissionPolicy",
    ),
    "no object": (
        VALIDATING_POLICIES,
        ["[]"],
        "error loading /d/0.yaml: couldn't get version/kind; json parse error: json: cannot "
        "unmarshal array into Go value of type struct { APIVersion string "
        '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ),
}


@pytest.mark.parametrize(("plugin", "files", "text"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_wrong_first(plugin: StaticPlugin, files: list[Any], text: str) -> None:
    assert refusal(*files, plugin=plugin) == text


def test_names_are_counted_by_kind() -> None:
    same = "p.static.k8s.io"
    assert len(loaded(vap(same), vapb(same)).objects) == 2


def test_complaints_about_yaml() -> None:
    text = json_text(vap())
    noticed = 'yaml: unmarshal errors:\n  line 3: key "a" already set in map'
    for one in (text, json_text(listed(vap()))):
        given = StaticDocument("/d/0.yaml", read_json(one), one, (noticed,))
        with pytest.raises(ManifestError) as wrong:
            load([given], VALIDATING_POLICIES)
        assert str(wrong.value) == f"error loading /d/0.yaml: strict decoding error: {noticed}"


@pytest.mark.parametrize("made", [{}, {"apiVersion": ""}, {"apiVersion": 1}, {"apiVersion": []}])
def test_documents_say_their_version(made: dict[str, Any]) -> None:
    text = json_text({"kind": "X", **made})
    assert refusal(text) == f"error loading /d/0.yaml: Object 'apiVersion' is missing in '{text}'"


@pytest.mark.parametrize("made", [{}, {"kind": ""}, {"kind": 1}, {"kind": []}])
def test_documents_say_their_kind(made: dict[str, Any]) -> None:
    text = json_text({"apiVersion": "v1", **made})
    assert refusal(text) == f"error loading /d/0.yaml: Object 'Kind' is missing in '{text}'"


def test_plugins_that_take_files() -> None:
    kinds = {name: plugin.kinds for name, plugin in STATIC_PLUGINS.items()}
    assert kinds == {
        "MutatingAdmissionPolicy": ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
        "MutatingAdmissionWebhook": ("MutatingWebhookConfiguration",),
        "ValidatingAdmissionPolicy": (
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ),
        "ValidatingAdmissionWebhook": ("ValidatingWebhookConfiguration",),
    }
    assert {one.name for one in PLUGINS} >= kinds.keys()
