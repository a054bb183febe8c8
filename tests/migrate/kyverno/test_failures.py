"""Where Kyverno fails a rule: what is known of it is said."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json
from tests.migrate.kyverno.policy_documents import kyverno_policy, rule, translated

LABEL = "request.object.metadata.labels.a"
DELETIONS = "lets deletions pass, which Kyverno judges, too, since it names no `operations`"
CREATED = {"key": "{{ request.operation }}", "operator": "AnyIn", "value": ["CREATE", "UPDATE"]}


def where(*variables: str) -> str:
    """What is said of variables that read nothing."""
    return (
        f"where {', '.join(f'`{one}`' for one in variables)} reads nothing, Kyverno's rule fails, "
        "and refuses if it enforces; here its condition is not met"
    )


def notes(validate: dict[str, Any], **more: Any) -> tuple[str, ...]:
    """What is said of a rule."""
    found = translated(kyverno_policy(rule(validate, **more)))
    assert not found.reason, found.reason
    return found.notes


def denying(key: Json, value: Json = "x", operator: str = "Equals") -> dict[str, Any]:
    condition = {"key": key, "operator": operator, "value": value}
    return {"deny": {"conditions": {"all": [condition]}}}


@pytest.mark.parametrize(
    ("text", "value", "fails"),
    [
        (LABEL, "x", True),
        (f"{LABEL} || ''", "x", False),
        ("request.object.metadata.name", "x", False),
        ("request.namespace", "x", False),
        ("request.object.spec.containers[0].name", "x", False),
        ("request.object.spec.containers[1].image", "x", False),
        ("request.object.spec.containers[1].stdin", True, True),
        ("request.object.spec.restartPolicy", "Never", False),
        ("request.object.metadata.namespace", "x", False),
        ("request.object.spec.volumes[].name", ["x"], False),
        ("request.object.spec.volumes[?hostPath] | length(@)", 1, True),
        ("request.object.spec.volumes[] || `[]` | length(@)", 1, False),
        ("request.object.spec.volumes || `[]` | length(@)", 1, False),
        ("length(request.object.spec.volumes)", 1, True),
        ("length(request.object.spec.containers)", 1, False),
        ("to_upper(request.object.spec.containers[0].name || 'a')", "A", False),
        (f"{LABEL} == 'a'", True, False),
        (f"starts_with({LABEL}, 'a')", True, True),
        (f"starts_with({LABEL}, 'a') || `true`", True, True),
        ("request.object.metadata.labels | keys(@)", ["x"], True),
    ],
)
def test_variables_that_read_nothing(text: str, value: Json, fails: bool) -> None:
    operator = "AnyIn" if isinstance(value, list) else "Equals"
    validate = denying(f"{{{{ {text} }}}}", value, operator)
    said = notes(validate, preconditions={"all": [CREATED]})
    assert said == ((where(text),) if fails else ())


def test_the_same_in_preconditions_patterns_and_elements() -> None:
    condition = {"key": f"{{{{ {LABEL} }}}}", "operator": "Equals", "value": "x"}
    pattern = {"metadata": {"name": f"{{{{ {LABEL} }}}}"}}
    required = {"all": [CREATED, condition]}
    assert notes({"pattern": {"spec": {"hostNetwork": True}}}, preconditions=required) == (
        where(LABEL),
    )
    assert notes({"pattern": pattern}) == (where(LABEL),)
    conditions = {"all": [{**condition, "key": "{{ element.workingDir }}"}]}
    entry: dict[str, Any] = {
        "list": "request.object.spec.containers",
        "deny": {"conditions": conditions},
    }
    given = {"preconditions": {"all": [CREATED]}}
    assert notes({"foreach": [entry]}, **given) == (where("element.workingDir"),)
    # An element of which a precondition fails is only passed over.
    met = {"all": [{**condition, "key": "{{ element.workingDir || 'a' }}"}]}
    passed = {**entry, "preconditions": conditions, "deny": {"conditions": met}}
    assert notes({"foreach": [passed]}, **given) == ()


def test_what_only_templates_of_pods_may_lack() -> None:
    name = "{{ request.object.metadata.name }}"
    policy = kyverno_policy(rule(denying(name), preconditions=[CREATED]), annotations={})
    assert translated(policy).notes == (where("request.object.spec.template.metadata.name"),)


FAILING = "lets deletions pass, which fail in Kyverno, since they have no `object`"


def in_cel(expression: str) -> dict[str, Any]:
    return {"cel": {"expressions": [{"expression": expression}]}}


def test_rules_in_cel_are_for_deletions_if_they_are_about_them() -> None:
    expressions = {"has(object.spec.nodeName)": False, "oldObject == null": True}
    for expression, is_for_deletions in expressions.items():
        (policy,) = translated(kyverno_policy(rule(in_cel(expression)))).policies
        (one,) = policy["spec"]["matchConstraints"]["resourceRules"]
        assert ("DELETE" in one["operations"]) is is_for_deletions


@pytest.mark.parametrize(
    ("validate", "more", "said"),
    [
        ({"deny": {}}, {}, (DELETIONS,)),
        ({"deny": {}}, {"preconditions": {"all": [CREATED]}}, ()),
        ({"deny": {}}, {"exclude": {"any": [{"resources": {"operations": ["DELETE"]}}]}}, ()),
        (
            {"deny": {}},
            {"match": {"any": [{"resources": {"kinds": ["Pod"], "operations": ["CREATE"]}}]}},
            (),
        ),
        ({"pattern": {"spec": {"hostNetwork": False}}}, {}, ()),
        ({"podSecurity": {"level": "baseline"}}, {}, ()),
        (in_cel("has(object.spec.nodeName)"), {}, (FAILING,)),
        (in_cel("request.operation != 'DELETE'"), {}, ()),
        (in_cel("oldObject == null"), {}, ()),
    ],
)
def test_deletions(validate: dict[str, Any], more: dict[str, Any], said: tuple[str, ...]) -> None:
    given = {**rule(validate), **more}
    assert translated(kyverno_policy(given)).notes == said


def test_an_element_scope_that_always_fails() -> None:
    entry = {**denying("{{ element }}"), "list": "request.object.spec.containers[].image"}
    found = translated(kyverno_policy(rule({"foreach": [{**entry, "elementScope": True}]})))
    assert found.reason.startswith("`elementScope: true` for elements that are no objects")
