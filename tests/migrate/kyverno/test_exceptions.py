"""Exceptions to Kyverno's policies, of both groups: match conditions of what they are for."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate import PolicyException, Translation, outcome_of, shape_of, translate_document
from tests.migrate.kyverno.policy_documents import CATALOG, kyverno_policy, pod, result, rule
from tests.migrate.kyverno.test_cel_policies import validating_policy

TEAM = {"message": "no", "pattern": {"metadata": {"labels": {"team": "?*"}}}}


def exception(
    *rules: str, policy: str = "p", name: str = "e", match: Json = None, **spec: Json
) -> dict[str, Any]:
    """An exception for Pods whose names begin with `tmp-`."""
    found = {
        "apiVersion": "kyverno.io/v2",
        "kind": "PolicyException",
        "metadata": {"name": name, "namespace": "delta"},
        "spec": {
            "match": match or {"any": [{"resources": {"kinds": ["Pod"], "names": ["tmp-*"]}}]},
            "exceptions": [{"policyName": policy, "ruleNames": list(rules) or ["r"]}],
            **spec,
        },
    }
    assert shape_of(found) is not None
    return found


def translated(policy: JsonObject, *exceptions: JsonObject) -> Translation:
    """What became of a policy of one rule, with exceptions."""
    read = [PolicyException(one) for one in exceptions]
    (found,) = translate_document(policy, CATALOG, read)
    assert not found.reason, found.reason
    return found


def conditions(translation: Translation, index: int = 0) -> list[tuple[str, str]]:
    given = translation.policies[index]["spec"].get("matchConditions") or ()
    return [(one["name"], one["expression"]) for one in given]


def test_an_exception_is_a_match_condition() -> None:
    found = translated(kyverno_policy(rule(TEAM)), exception())
    assert conditions(found) == [
        ("is-not-excepted-by-e", "!object.metadata.?name.orValue('').startsWith('tmp-')")
    ]
    assert (found.exceptions, found.left_out) == (("delta/e",), ())
    assert result(found, pod(name="tmp-a")) == "skip"
    assert result(found, pod(name="a")) == "fail"


@pytest.mark.parametrize(
    ("given", "excepted"),
    [
        (exception("other"), []),
        (exception("r*"), ["tmp-a"]),
        (exception(policy="shop/p"), []),
        (exception(match={"any": [{"resources": {"kinds": ["Service"]}}]}), []),
        (exception(match={"any": [{"resources": {"kinds": ["example.org/v1/Pod"]}}]}), []),
        (exception(match={"any": [{"resources": {"kinds": ["v1/Pod"]}}]}), ["a", "tmp-a"]),
        (
            exception(
                match={
                    "all": [
                        {"resources": {"kinds": ["Pod", "Service"], "namespaces": ["default"]}},
                        {"resources": {"names": ["*-a"]}},
                    ]
                }
            ),
            ["tmp-a"],
        ),
        (
            exception(
                conditions={
                    "any": [
                        {
                            "key": "{{ request.object.spec.hostNetwork || `false` }}",
                            "operator": "Equals",
                            "value": True,
                        }
                    ]
                }
            ),
            [],
        ),
    ],
)
def test_which_objects_are_excepted(given: JsonObject, excepted: list[str]) -> None:
    found = translated(kyverno_policy(rule(TEAM)), given)
    assert [one for one in ("a", "tmp-a") if result(found, pod(name=one)) == "skip"] == excepted


def test_policies_in_namespaces_are_named_with_them() -> None:
    policy = kyverno_policy(rule(TEAM), kind="Policy")
    policy["metadata"]["namespace"] = "default"
    assert translated(policy, exception()).exceptions == ()
    assert translated(policy, exception(policy="default/p")).exceptions == ("delta/e",)


def test_rules_for_controllers_are_named_on_their_own() -> None:
    """As in Kyverno: an exception to a rule is none to those that were made of it."""
    policy = kyverno_policy(rule(TEAM), annotations={})
    match: Json = {"any": [{"resources": {"kinds": ["Pod", "CronJob", "Deployment"]}}]}
    found = translated(policy, exception("r", "autogen-cronjob-r", match=match))
    with_exception = {
        one["metadata"]["name"]
        for index, one in enumerate(found.policies)
        if conditions(found, index)
    }
    assert with_exception == {"p", "p-cronjobs"}


def test_exceptions_of_one_name() -> None:
    given = [exception(), exception()]
    given[1]["metadata"]["namespace"] = "other"
    found = translated(kyverno_policy(rule(TEAM)), *given)
    assert [name for name, _ in conditions(found)] == [
        "is-not-excepted-by-e",
        "is-not-excepted-by-e-2",
    ]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (exception(expiresAt="2030-01-01"), "an exception that ends"),
        (exception(match={"any": [{"roles": ["a"]}]}), "roles of the user"),
        (exception(match={"any": [{"resources": {"kinds": ["Pod/exec"]}}]}), "subresources"),
    ],
)
def test_what_cannot_be_said_is_left_out(given: JsonObject, reason: str) -> None:
    """The rule refuses more then, which is said."""
    found = translated(kyverno_policy(rule(TEAM)), given)
    assert conditions(found) == []
    ((name, why),) = found.left_out
    assert name == "delta/e"
    assert why.startswith(reason)
    said = outcome_of(PolicyException(given), [found])
    assert said.reason == why
    assert "refuse more" in said.instead


def test_what_became_of_an_exception() -> None:
    heeded = translated(kyverno_policy(rule(TEAM)), exception())
    assert outcome_of(PolicyException(exception()), [heeded]).reason == ""
    stray = PolicyException(exception(policy="other", name="stray"))
    assert outcome_of(stray, [heeded]).reason == "no rule that was translated is one that it names"


# --- Policies in CEL ---------------------------------------------------------


def cel_exception(
    *expressions: str, name: str = "e", kind: str = "ValidatingPolicy", **spec: Json
) -> dict[str, Any]:
    """An exception to the policy `p`."""
    given = expressions or ("object.metadata.name == 'tmp'",)
    found = {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "PolicyException",
        "metadata": {"name": name},
        "spec": {
            "policyRefs": [{"name": "p", "kind": kind}],
            "matchConditions": [
                {"name": f"c{index}", "expression": one} for index, one in enumerate(given)
            ],
            **spec,
        },
    }
    assert shape_of(found) is not None
    return found


def test_an_exception_in_cel() -> None:
    found = translated(
        validating_policy("false"),
        cel_exception(),
        cel_exception("object.spec.hostPID", "true", name="both"),
        cel_exception("true", kind="MutatingPolicy", name="of-another"),
    )
    assert conditions(found) == [
        ("is-not-excepted-by-e", "!(object.metadata.name == 'tmp')"),
        ("is-not-excepted-by-both", "!((object.spec.hostPID) && (true))"),
    ]
    # As in Kyverno, what is excepted is not looked for in templates.
    assert conditions(found, 1)[0][1] == "!(object.metadata.name == 'tmp')"


ALLOWED = "object.spec.containers.all(c, c.image in exceptions.allowedImages)"


def test_values_that_an_exception_allows() -> None:
    given = cel_exception(images=["a:1", "b:1"])
    found = translated(validating_policy(ALLOWED), given)
    (validation,) = found.policies[0]["spec"]["validations"]
    assert validation["expression"] == (
        "object.spec.containers.all(c, c.image in "
        "((object.metadata.name == 'tmp' ? ['a:1', 'b:1'] : [])))"
    )
    images = {"containers": [{"name": "c", "image": "a:1"}]}
    assert result(found, pod(images, name="tmp")) == "pass"
    assert result(found, pod(images, name="a")) == "fail"
    without = translated(validating_policy(ALLOWED))
    assert result(without, pod(images, name="tmp")) == "fail"


def test_values_that_an_exception_allows_at_the_beginning_of_a_line() -> None:
    found = translated(
        validating_policy("'a:1' in\nexceptions.allowedImages"), cel_exception(images=["a:1"])
    )
    (validation,) = found.policies[0]["spec"]["validations"]
    assert validation["expression"].endswith("\n((object.metadata.name == 'tmp' ? ['a:1'] : []))")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (cel_exception(expiresAt="2027-01-01T00:00:00Z"), "an exception that ends"),
        (cel_exception("http.Get('x') == 1"), "what an API server would refuse"),
    ],
)
def test_what_cannot_be_said_in_cel_is_left_out(given: JsonObject, reason: str) -> None:
    found = translated(validating_policy("false"), cel_exception("true", name="fine"), given)
    assert [name for name, _ in conditions(found)] == ["is-not-excepted-by-fine"]
    ((name, why),) = found.left_out
    assert (name, why.startswith(reason)) == ("e", True)


PRIVILEGED = {"controlName": "Privileged Containers", "images": ["nginx"]}
HOSTS = {"controlName": "Host Namespaces", "restrictedField": "spec.hostPID", "values": ["true"]}


@pytest.mark.parametrize(
    ("controls", "spec", "answers"),
    [
        ([PRIVILEGED], {}, ("pass", "fail")),
        ([HOSTS], {}, ("fail", "fail")),
        ([PRIVILEGED], {"hostPID": True}, ("fail", "fail")),
        ([PRIVILEGED, HOSTS], {"hostPID": True}, ("pass", "fail")),
        ([PRIVILEGED, HOSTS], {"hostIPC": True}, ("fail", "fail")),
        ([PRIVILEGED, {"controlName": "Host Namespaces"}], {"hostIPC": True}, ("pass", "fail")),
    ],
)
def test_controls_of_an_exception(
    controls: list[Json], spec: JsonObject, answers: tuple[str, str]
) -> None:
    """They are excluded from objects that the exception is for."""
    demanded = {"podSecurity": {"level": "baseline"}}
    policy = kyverno_policy(rule(demanded), annotations={})
    found = translated(policy, exception(podSecurity=controls))
    assert found.exceptions == ("delta/e",)
    privileged = {"name": "c", "image": "nginx", "securityContext": {"privileged": True}}
    for name, answer in zip(("tmp-a", "a"), answers, strict=True):
        given = {**pod(name=name), "spec": {"containers": [privileged], **spec}}
        assert result(found, given) == answer, name


def test_controls_of_several_exceptions_are_excluded_together() -> None:
    policy = kyverno_policy(rule({"podSecurity": {"level": "baseline"}}), annotations={})
    of_pods = {"any": [{"resources": {"kinds": ["Pod"], "names": ["*-b"]}}]}
    found = translated(
        policy,
        exception(podSecurity=[PRIVILEGED]),
        exception(podSecurity=[HOSTS], name="f", match=of_pods),
    )
    privileged = {"name": "c", "image": "nginx", "securityContext": {"privileged": True}}
    for name, answer in {"tmp-b": "pass", "tmp-a": "fail", "a-b": "fail"}.items():
        given = {**pod(name=name), "spec": {"containers": [privileged], "hostPID": True}}
        assert result(found, given) == answer, name


def test_controls_of_an_exception_that_kyverno_does_not_take() -> None:
    policy = kyverno_policy(rule({"podSecurity": {"level": "baseline"}}), annotations={})
    found = translated(policy, exception(podSecurity=[{"controlName": "Capabilities"}]))
    ((_, reason),) = set(found.left_out)
    assert "does not take" in reason


def test_an_exception_with_controls_to_another_rule() -> None:
    """Such a rule is left as a whole."""
    found = translated(kyverno_policy(rule(TEAM)), exception(podSecurity=[PRIVILEGED]))
    assert result(found, pod(name="tmp-a")) == "skip"
