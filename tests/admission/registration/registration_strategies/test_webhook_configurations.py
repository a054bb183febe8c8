"""Complaints about webhook configurations, row by row after the reference's examples."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.decoding import decode_object
from celadon.admission.registration.registration_strategies import validate_webhooks
from celadon.admission.registration.registration_types import WebhookConfiguration

URL = {"url": "https://127.0.0.1:9/x"}
HOOK = {
    "name": "a.b.c",
    "clientConfig": URL,
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def configuration(*hooks: dict[str, Any], mutating: bool = False) -> WebhookConfiguration:
    kind = "MutatingWebhookConfiguration" if mutating else "ValidatingWebhookConfiguration"
    document = {"metadata": {"name": "config"}, "webhooks": list(hooks)}
    value = decode_object(document, kind).value
    assert isinstance(value, WebhookConfiguration)
    return value


def errors(*hooks: dict[str, Any], mutating: bool = False) -> list[str]:
    return [str(e) for e in validate_webhooks(configuration(*hooks, mutating=mutating))]


def hook(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**HOOK, **changes}.items() if value is not None}


def url(text: str) -> dict[str, Any]:
    return hook(clientConfig={"url": text})


def service(**members: Any) -> dict[str, Any]:
    return hook(clientConfig={"service": {"namespace": "n", "name": "s", **members}})


def condition(expression: str) -> dict[str, Any]:
    return hook(matchConditions=[{"name": "x", "expression": expression}])


def test_good_configurations() -> None:
    assert errors() == []
    assert errors(hook()) == []
    assert errors(service(path="/a/b.c/", port=65535)) == []
    assert errors(url("https://h/?"), hook(name="d.e.f")) == []
    assert errors(hook(reinvocationPolicy="IfNeeded"), mutating=True) == []


FORM = "; desired format: https://host[/path]"
W = "webhooks[0]"
ROWS: list[tuple[dict[str, Any], str]] = [
    (
        hook(name="k8s.io"),
        f'{W}.name: Invalid value: "k8s.io": should be a domain with at least three segments '
        "separated by dots",
    ),
    (hook(name=None), f"{W}.name: Required value"),
    (
        hook(sideEffects=None),
        f"{W}.sideEffects: Required value: must specify one of None, NoneOnDryRun",
    ),
    (
        hook(sideEffects="Some"),
        f'{W}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ),
    (
        hook(timeoutSeconds=31),
        f"{W}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
        "seconds",
    ),
    (
        hook(admissionReviewVersions=None),
        f"{W}.admissionReviewVersions: Required value: must specify one of v1, v1beta1",
    ),
    (
        hook(admissionReviewVersions=["v2"]),
        f'{W}.admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, '
        "v1beta1",
    ),
    (
        hook(admissionReviewVersions=["v1", "v1"]),
        f'{W}.admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
    ),
    (
        hook(clientConfig={}),
        f"{W}.clientConfig: Required value: exactly one of url or service is required",
    ),
    (
        url("http://example.com"),
        f"{W}.clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL "
        f"scheme{FORM}",
    ),
    (
        url("https:///x"),
        f'{W}.clientConfig.url: Invalid value: "": host must be specified{FORM}',
    ),
    (
        url("https://u:p@h/"),
        f'{W}.clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
    ),
    (
        url("https://h/?a=b"),
        f'{W}.clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the '
        "URL",
    ),
    (
        url("https://h/#f"),
        f'{W}.clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
    ),
    (
        url("https://a b/"),
        f'{W}.clientConfig.url: Required value: url must be a valid URL: parse "https://a b/": '
        f'invalid character " " in host name{FORM}',
    ),
    (service(namespace=""), f"{W}.clientConfig.service.name: Required value"),
    (service(name=""), f"{W}.clientConfig.service.namespace: Required value"),
    (
        service(port=0),
        f"{W}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 "
        "and 65535, inclusive",
    ),
    (
        service(path="foo/"),
        f"{W}.clientConfig.service.path: Invalid value: \"foo/\": must start with a '/'",
    ),
    (
        service(path="/foo//bar/"),
        f'{W}.clientConfig.service.path: Invalid value: "/foo//bar/": segment[1] may not be empty',
    ),
    (
        service(path="//"),
        f'{W}.clientConfig.service.path: Invalid value: "//": segment[0] may not be empty',
    ),
    (
        condition("6"),
        f'{W}.matchConditions[0].expression: Invalid value: "6": must evaluate to bool but got int',
    ),
    (
        condition("object.x in [1, 2, "),
        f'{W}.matchConditions[0].expression: Invalid value: "object.x in [1, 2,": compilation '
        "failed: ERROR: <input>:1:19: Syntax error: missing ']' at '<EOF>'\n"
        " | object.x in [1, 2,\n | ..................^",
    ),
]


@pytest.mark.parametrize(("row", "message"), ROWS)
def test_one_complaint(row: dict[str, Any], message: str) -> None:
    assert errors(row) == [message]


def test_names_are_unique() -> None:
    assert errors(hook(), hook()) == ['webhooks[1].name: Duplicate value: "a.b.c"']


def test_reinvocation_belongs_to_mutating_hooks() -> None:
    assert errors(hook(reinvocationPolicy="Always"), mutating=True) == [
        'webhooks[0].reinvocationPolicy: Unsupported value: "Always": supported values: '
        '"IfNeeded", "Never"'
    ]


def updated(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    found = validate_webhooks(configuration(new), configuration(old))
    return [str(error) for error in found]


BAD_LABEL = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a b"]}]}
OLD_FAULTS = [
    {"sideEffects": "Unknown"},
    {"admissionReviewVersions": ["v2"]},
    {"objectSelector": BAD_LABEL},
    {"matchConditions": [{"name": "x", "expression": "6"}]},
]


@pytest.mark.parametrize("fault", OLD_FAULTS)
def test_old_faults_may_stay(fault: dict[str, Any]) -> None:
    assert errors(hook(**fault)) != []
    assert updated(hook(**fault), hook(**fault)) == []
    assert updated(hook(**fault), hook()) == errors(hook(**fault))


def test_names_that_were_not_unique_may_stay_so() -> None:
    twice = configuration(hook(), hook())
    assert validate_webhooks(twice, twice) == []


def test_side_effects_after_old_ones() -> None:
    assert updated(hook(sideEffects="x"), hook(sideEffects="Some")) == [
        'webhooks[0].sideEffects: Unsupported value: "x": supported values: "None", '
        '"NoneOnDryRun", "Some", "Unknown"'
    ]


@pytest.mark.parametrize(
    ("versions", "messages"),
    [
        (["v1", "v7"], []),
        (
            ["v1", "v1", "V"],
            ['[1]: Invalid value: "v1": duplicate version', '[2]: Invalid value: "V"'],
        ),
        ([], [": Required value: must specify one of v1, v1beta1"]),
        (["v7"], [': Invalid value: ["v7"]: must include at least one of v1, v1beta1']),
    ],
)
def test_review_versions(versions: list[str], messages: list[str]) -> None:
    found = errors(hook(admissionReviewVersions=versions))
    assert len(found) == len(messages)
    for one, message in zip(found, messages, strict=True):
        assert one.startswith(f"{W}.admissionReviewVersions{message}")


def test_all_that_is_wrong_with_a_name() -> None:
    (one,) = errors(hook(name="A." + "b" * 260))
    length, _, form = one.partition("must be no more than 253 characters,")
    assert length == f'{W}.name: Invalid value: "A.{"b" * 260}": '
    assert form.startswith("a lowercase RFC 1123 subdomain must consist of")


@pytest.mark.parametrize(("count", "many"), [(64, False), (65, True)])
def test_match_conditions_are_at_most_64(count: int, many: bool) -> None:
    conditions = [{"name": f"c{i}", "expression": "true"} for i in range(count)]
    text = f"{W}.matchConditions: Too many: 65: must have at most 64 items"
    assert errors(hook(matchConditions=conditions)) == ([text] if many else [])


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"operator": "In", "values": ["a"]}, ""),
        (
            {"operator": "NotIn"},
            ".values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        ({"operator": "Exists"}, ""),
        ({"operator": "DoesNotExist", "values": []}, ""),
        (
            {"operator": "DoesNotExist", "values": ["a"]},
            ".values: Forbidden: may not be specified when `operator` is 'Exists' or "
            "'DoesNotExist'",
        ),
        ({"operator": "Near"}, '.operator: Invalid value: "Near": not a valid selector operator'),
    ],
)
def test_requirements(requirement: dict[str, Any], message: str) -> None:
    selector = {"matchExpressions": [{"key": "k", **requirement}]}
    at = f"{W}.objectSelector.matchExpressions[0]"
    assert errors(hook(objectSelector=selector)) == ([at + message] if message else [])


@pytest.mark.parametrize(
    ("path", "messages"),
    [
        ("", []),
        ("/", []),
        ("/a/b/", []),
        ("//", ["segment[0] may not be empty"]),
        ("a", ["must start with a '/'", "segment[0] may not be empty"]),
        ("/a//b", ["segment[1] may not be empty"]),
        ("/a/B", ["segment[1]: a lowercase RFC 1123 subdomain must consist of"]),
    ],
)
def test_paths_of_services(path: str, messages: list[str]) -> None:
    found = errors(service(path=path))
    assert len(found) == len(messages)
    for one, message in zip(found, messages, strict=True):
        assert one.startswith(f'{W}.clientConfig.service.path: Invalid value: "{path}": {message}')
