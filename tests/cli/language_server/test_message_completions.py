"""What is offered inside of `Object{…}` and `JSONPatch{…}`: the fields of the matched kind."""

from __future__ import annotations

import pytest

from celadon.admission.lint import TypedScopes
from celadon.cli.language_server.completions import completions
from celadon.cli.lint import LintConfig, lint_setup

SCOPES = TypedScopes((), lint_setup(LintConfig()).settings)
RULE = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["deployments"],
}
POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {"name": "p"},
    "spec": {"matchConstraints": {"resourceRules": [RULE]}},
}
PATH = ("spec", "mutations", 0, "applyConfiguration", "expression")
POD = "Object.spec.template.spec"

ROWS = {
    "Object{^": ({"spec", "metadata"}, {"object", "size", "replicas"}),
    "Object{sp^": ({"spec"}, {"object"}),
    "Object{metadata: Object.metadata{labels: {}}, ^": ({"spec"}, {"metadata"}),
    "Object{spec: ^": ({"Object.spec", "object"}, {"Object", "Object.metadata", "replicas"}),
    "Object{spec: Object.spec{^": ({"replicas", "template"}, {"spec"}),
    "Object{spec: Object.spec{replicas: ^": ({"object"}, {"Object", "Object.spec.replicas"}),
    "Object{spec: Object.^": ({"spec", "metadata"}, {"apiVersion", "size"}),
    f"Object{{spec: {POD}.^": ({"containers", "volumes"}, {"hostNetwork", "size"}),
    f"{POD}.containers{{na^": ({"name", "image", "env"}, {"containers"}),
    "Object{spec: Object.spec{replicas: object.spec.^": ({"replicas", "template"}, {"containers"}),
    "Object{metadata: Object.metadata{labels: {^": ({"object"}, {"spec", "labels"}),
    "^": ({"Object", "JSONPatch", "object"}, {"spec"}),
    "[JSONPatch{^": ({"op", "path", "from", "value"}, {"object"}),
    "[JSONPatch{op: ^": ({'"add"', '"test"'}, {"Object"}),
    "[JSONPatch{op: 'add', ^": ({"path", "from", "value"}, {"op"}),
    "[JSONPatch{op: 'add', value: ^": ({"Object", "object"}, {'"add"'}),
    "Object{nothing: Object.nothing{^": (set[str](), {"spec", "object"}),
}


@pytest.mark.parametrize("text", ROWS)
def test_offers(text: str) -> None:
    wanted, unwanted = ROWS[text]
    scopes = SCOPES.at(POLICY, PATH)
    found = completions(text.replace("^", ""), text.index("^"), scopes)
    assert found is not None
    labels = {one.label for one in found.offers}
    assert wanted <= labels
    assert not unwanted & labels


def test_validating_policies_build_nothing() -> None:
    scopes = SCOPES.at(POLICY, ("spec", "matchConditions", 0, "expression"))
    found = completions("", 0, scopes)
    assert found is not None
    assert not {"Object", "JSONPatch"} & {one.label for one in found.offers}
