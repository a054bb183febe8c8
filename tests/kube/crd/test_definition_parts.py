"""Conversion, printed columns, scale and selectable fields of a CRD."""

from __future__ import annotations

import base64
import ssl
from typing import Any

import pytest

from celadon.kube.crd.definition_parts import (
    APPROVAL,
    Demands,
    approval_errors,
    conversion_errors,
    demands_of_update,
    selectable_errors,
    trusts_nobody,
)
from celadon.kube.crd.definition_validation import definition_errors
from celadon.kube.fieldpath import FieldPath
from celadon.kube.library.environments import environment
from celadon.kube.releases import answering_as
from tests.kube.test_certificate_authorities import AUTHORITY

Json = dict[str, Any]
SCHEMA: Json = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
}
SIMPLE = {"strategy": "None"}
COLUMN = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}


def texts(*versions: Json, **spec: Any) -> list[str]:
    given = [
        {"name": f"v{i}", "schema": {"openAPIV3Schema": SCHEMA}, **one}
        for i, one in enumerate(versions, 1)
    ]
    given[0]["storage"] = True
    names = {"plural": "gizmos", "singular": "gizmo", "kind": "Gizmo", "listKind": "GizmoList"}
    definition = {
        "metadata": {"name": "gizmos.example.com"},
        "spec": {
            "group": "example.com",
            "names": names,
            "scope": "Cluster",
            "versions": given,
            "conversion": SIMPLE,
            **spec,
        },
        "status": {"storedVersions": ["v1"]},
    }
    return [str(one) for one in definition_errors(definition)]


def bundle_errors(release: str, *, established: bool, before: str, now: str) -> list[str]:
    """What is said of an update of the bundle of a conversion's webhook."""

    def conversion(bundle: bytes) -> Json:
        config = {"url": "https://a", "caBundle": base64.b64encode(bundle).decode()}
        webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
        return {"strategy": "Webhook", "webhook": webhook}

    def spec(text: str) -> Json:
        return {"conversion": conversion(BUNDLES[text]), "versions": []}

    with answering_as(release):
        demands = demands_of_update(spec(now), spec(before), established=established)
        found = conversion_errors(spec(now)["conversion"], FieldPath("conversion"), demands)
        return [str(one) for one in found]


BUNDLES = {
    "good": ssl.DER_cert_to_PEM_cert(AUTHORITY).encode(),
    "blank": b"\n",
    "key": b"-----BEGIN KEY-----\nYQ==\n-----END KEY-----\n",
    "broken": b"-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n",
}
UNUSABLE = (
    "conversion.webhookClientConfig.caBundle: Invalid value: {}: unable to load root certificates: "
)


@pytest.mark.parametrize(
    ("now", "shown", "fault"),
    [
        ("blank", '"Cg=="', "unable to parse bytes as PEM block"),
        ("key", "", "no valid certificate authority data seen"),
        ("broken", "", "failed to parse certificate: x509: malformed certificate"),
    ],
)
def test_bundles_stay_usable(now: str, shown: str, fault: str) -> None:
    (found,) = bundle_errors("1.36", established=True, before="good", now=now)
    assert found.endswith(fault)
    if shown:
        assert found == UNUSABLE.format(shown) + fault
        (older,) = bundle_errors("1.33", established=True, before="good", now=now)
        assert older == UNUSABLE.format("[]byte{0xa}") + fault
    assert not bundle_errors("1.30", established=True, before="good", now=now)
    assert not bundle_errors("1.36", established=False, before="good", now=now)
    assert not bundle_errors("1.36", established=True, before="blank", now=now)
    assert not bundle_errors("1.36", established=True, before=now, now="good")


LIST: Json = {"type": "array", "x-kubernetes-list-type": "set"}
PAIRS: Json = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
}
RULED: Json = {"x-kubernetes-validations": [{"rule": "a"}, {"rule": "b", "messageExpression": "c"}]}
PRUNED: Json = {"type": "object", "properties": {"a": {"type": "string"}}}
FIELDS = [{"jsonPath": f".spec.f{i}"} for i in range(9)]


def member(schema: Json) -> Json:
    return {"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}}


def reviewed(*versions: str) -> Json:
    return {"webhook": {"conversionReviewVersions": list(versions)}}


@pytest.mark.parametrize(
    ("version", "conversion", "relaxed"),
    [
        (member({"type": "object"}), {}, {}),
        ({}, {}, {"schemas": False}),
        (member({"type": "text"}), {}, {"valid_types": False}),
        (member({"properties": {}}), {}, {"structural": False}),
        (member(PRUNED | {"default": {"a": "x"}}), {}, {}),
        (member(PRUNED | {"default": {"b": "x"}}), {}, {"pruned_defaults": False}),
        (member(LIST | {"items": {"type": "string"}}), {}, {}),
        (member(LIST | {"items": {"type": "object"}}), {}, {"atomic_sets": False}),
        (
            member(LIST | {"items": {"type": "object", "x-kubernetes-map-type": "atomic"}}),
            {},
            {},
        ),
        (member(LIST | {"items": {"type": "array", "items": {"type": "string"}}}), {}, {}),
        (
            member(
                LIST
                | {
                    "items": {
                        "type": "array",
                        "x-kubernetes-list-type": "set",
                        "items": {"type": "string"},
                    }
                }
            ),
            {},
            {"atomic_sets": False},
        ),
        (
            member(LIST | {"items": {"type": "string", "nullable": True}}),
            {},
            {"keyed_items": False},
        ),
        (
            member(PAIRS | {"items": {"type": "object", "properties": {"k": {"type": "string"}}}}),
            {},
            {"keyed_items": False},
        ),
        (
            member(
                PAIRS
                | {
                    "items": {
                        "type": "object",
                        "properties": {"k": {"type": "string"}},
                        "required": ["k"],
                    }
                }
            ),
            {},
            {},
        ),
        (member({"type": "object"}), reviewed("v3", "v4"), {"known_reviews": False}),
        (member({"type": "object"}), reviewed("v3", "v1"), {}),
        (member({"type": "object"}), reviewed("v1beta1"), {}),
        (
            member({"type": "object"} | RULED),
            {},
            {"stored_rules": {"a", "b"}, "stored_messages": {"c"}},
        ),
    ],
)
def test_what_was_wrong_may_stay(version: Json, conversion: Json, relaxed: Json) -> None:
    """One fault of the stored definition relaxes the demand that it does not meet, no other."""
    old: Json = {"versions": [{"name": "v1", **version}], "conversion": conversion}
    now: Json = {"versions": [{"name": "v1", **member({"type": "string"})}]}
    assert demands_of_update(now, old, established=False) == Demands(**relaxed)


@pytest.mark.parametrize(("release", "stored"), [("1.30", {"b"}), ("1.31", {"c"}), ("1.36", {"c"})])
def test_messages_that_were_there_by_release(release: str, stored: set[str]) -> None:
    old: Json = {"versions": [{"name": "v1", **member({"type": "object"} | RULED)}]}
    with answering_as(release):
        assert demands_of_update(old, old, established=True).stored_messages == stored


def test_versions_that_did_not_change() -> None:
    def spec(**schemas: str) -> Json:
        return {"versions": [{"name": n, **member({"type": t})} for n, t in schemas.items()]}

    old = spec(v1="string", v2="integer", v3="string")
    now = spec(v1="string", v2="number", v4="string")
    assert demands_of_update(now, old, established=False).unchanged_schemas == {"v1"}
    assert demands_of_update(old, old, established=False).unchanged_schemas == {"v1", "v2", "v3"}


@pytest.mark.parametrize(
    ("release", "was", "now", "versions"),
    [
        ("1.36", FIELDS, FIELDS, {"v1"}),
        ("1.35", FIELDS, FIELDS, {"v1"}),
        ("1.34", FIELDS, FIELDS, set()),
        ("1.36", FIELDS[:8], FIELDS[:8], set()),
        ("1.36", FIELDS, FIELDS[::-1], set()),
        ("1.36", FIELDS[:8], FIELDS, set()),
        ("1.36", [], FIELDS, set()),
    ],
)
def test_too_many_fields_may_stay(
    release: str, was: list[Json], now: list[Json], versions: set[str]
) -> None:
    def spec(fields: list[Json]) -> Json:
        other = {"name": "v2", **member({"type": "string"})}
        one = {"name": "v1", "selectableFields": fields, **member({"type": "object"})}
        return {"versions": [one, other]}

    with answering_as(release):
        demands = demands_of_update(spec(now), spec(was), established=False)
    assert demands.many_fields == versions


@pytest.mark.parametrize(
    ("bundle", "is_none"), [("good", False), ("blank", True), ("key", True), (None, False)]
)
def test_a_webhook_that_trusts_nobody(bundle: str | None, is_none: bool) -> None:
    config = {} if bundle is None else {"caBundle": base64.b64encode(BUNDLES[bundle]).decode()}
    definition = {"spec": {"conversion": {"webhook": {"clientConfig": config}}}}
    assert trusts_nobody(definition) is is_none
    assert not trusts_nobody({"spec": {}})
    with answering_as("1.30"):
        assert not trusts_nobody(definition)


def test_fine() -> None:
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}
    version = {
        "additionalPrinterColumns": [COLUMN],
        "subresources": {"status": {}, "scale": scale},
        "selectableFields": [{"jsonPath": ".spec.size"}],
    }
    webhook = {"clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"]}
    assert texts(version, conversion={"strategy": "Webhook", "webhook": webhook}) == []


def test_what_versions_share_stands_at_the_definition() -> None:
    wrong = {"additionalPrinterColumns": [COLUMN | {"name": ""}]}
    assert texts(wrong, wrong) == ["spec.additionalPrinterColumns[0].name: Required value"]
    assert texts({}, wrong) == ["spec.versions[1].additionalPrinterColumns[0].name: Required value"]


TYPES = "boolean,date,integer,number,string"
VERSIONS: list[tuple[str, Any, list[str]]] = [
    (
        "additionalPrinterColumns",
        [COLUMN | {"type": ""}],
        [f"[0].type: Required value: must be one of {TYPES}"],
    ),
    (
        "additionalPrinterColumns",
        [COLUMN | {"type": "x"}],
        [f'[0].type: Invalid value: "x": must be one of {TYPES}'],
    ),
    (
        "additionalPrinterColumns",
        [COLUMN | {"format": "x"}],
        [
            '[0].format: Invalid value: "x": must be one of '
            "byte,date,date-time,double,float,int32,int64,password"
        ],
    ),
    ("additionalPrinterColumns", [COLUMN | {"jsonPath": ""}], ["[0].JSONPath: Required value"]),
    (
        "additionalPrinterColumns",
        [COLUMN | {"jsonPath": "a"}],
        ['[0].JSONPath: Invalid value: "a": must be a simple json path starting with .'],
    ),
    (
        "subresources",
        {"scale": {"specReplicasPath": ".x", "labelSelectorPath": ".y"}},
        [
            '.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec',
            ".scale.statusReplicasPath: Required value",
            '.scale.labelSelectorPath: Invalid value: ".y": should be a json path under '
            "either .spec or .status",
        ],
    ),
    (
        "selectableFields",
        [{"jsonPath": ""}, {"jsonPath": ".spec"}, {"jsonPath": ".spec.x"}],
        [
            "[0].jsonPath: Required value",
            '[1].jsonPath: Invalid value: ".spec": must point to a field of type string, '
            "boolean or "
            "integer. Enum string fields and strings with formats are allowed.",
            '[2].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid '
            "field",
        ],
    ),
    (
        "selectableFields",
        [{"jsonPath": ".spec.size"}] * 2,
        ['[1].jsonPath: Duplicate value: ".spec.size"'],
    ),
]


@pytest.mark.parametrize(("name", "value", "errors"), VERSIONS)
def test_parts_of_versions(name: str, value: Any, errors: list[str]) -> None:
    assert texts({name: value}) == [f"spec.{name}{one}" for one in errors]


NOT_SELECTABLE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with "
    "formats are allowed."
)
SELECTED = {
    "type": "object",
    "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
        "t": {"type": "string"},
        "i": {"type": "integer"},
        "b": {"type": "boolean"},
        "n": {"type": "number"},
        "o": {"type": "object", "properties": {f"f{i}": {"type": "string"} for i in range(9)}},
        "l": {"type": "array", "items": {"type": "string"}},
    },
}


@pytest.mark.parametrize(
    ("paths", "many", "errors"),
    [
        ([".t", ".i", ".b"], False, []),
        ([".n"], False, [f'[0].jsonPath: Invalid value: ".n": {NOT_SELECTABLE}']),
        ([".l"], False, [f'[0].jsonPath: Invalid value: ".l": {NOT_SELECTABLE}']),
        (
            [".metadata.name"],
            False,
            ['[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata'],
        ),
        (
            [".l[0]"],
            False,
            [
                '[0].jsonPath: Invalid value: ".l[0]": is an invalid path: array notation is not '
                "allowed"
            ],
        ),
        (
            ["", ".t", ".none", ".t"],
            False,
            [
                "[0].jsonPath: Required value",
                '[2].jsonPath: Invalid value: ".none": is an invalid path: does not refer to a '
                "valid field",
                '[3].jsonPath: Duplicate value: ".t"',
            ],
        ),
        ([f".o.f{i}" for i in range(8)], False, []),
        ([f".o.f{i}" for i in range(9)], False, [": Too many: 9: must have at most 8 items"]),
        ([f".o.f{i}" for i in range(9)], True, []),
    ],
)
def test_which_fields_can_be_selected(paths: list[str], many: bool, errors: list[str]) -> None:
    fields = [{"jsonPath": one} for one in paths]
    found = selectable_errors(fields, SELECTED, FieldPath("fields"), many=many)
    assert [str(one) for one in found] == [f"fields{one}" for one in errors]


LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
CONVERSIONS: list[tuple[Json, list[str]]] = [
    ({}, []),
    ({"strategy": "None", "webhook": {}}, []),
    ({"strategy": ""}, ["strategy: Required value"]),
    ({"strategy": "X"}, ['strategy: Unsupported value: "X": supported values: "None", "Webhook"']),
    (
        {"strategy": "Webhook"},
        [
            "webhookClientConfig: Required value: required when strategy is set to Webhook",
            "conversionReviewVersions: Required value",
        ],
    ),
    (
        {
            "strategy": "Webhook",
            "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v3", "v3"]},
        },
        [
            "webhookClientConfig: Required value: exactly one of url or service is required",
            'conversionReviewVersions[1]: Invalid value: "v3": duplicate version',
            'conversionReviewVersions: Invalid value: ["v3","v3"]: must include at least '
            "one of v1, v1beta1",
        ],
    ),
    (
        {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"url": "https://x"},
                "conversionReviewVersions": ["v1", "v1", "V", "v1", "V", "1"],
            },
        },
        [
            'conversionReviewVersions[1]: Invalid value: "v1": duplicate version',
            f'conversionReviewVersions[2]: Invalid value: "V": {LABEL}',
            'conversionReviewVersions[3]: Invalid value: "v1": duplicate version',
            'conversionReviewVersions[4]: Invalid value: "V": duplicate version',
            f'conversionReviewVersions[5]: Invalid value: "1": {LABEL}',
        ],
    ),
    (
        {"strategy": "None", "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v1"]}},
        [
            "webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
            "conversionReviewVersions: Forbidden: should not be set when strategy is not "
            "set to Webhook",
        ],
    ),
]


CALLED: list[tuple[Json, list[str]]] = [
    ({"service": {"name": "a", "namespace": "b"}}, []),
    ({"service": {}}, [".service.name: Required value", ".service.namespace: Required value"]),
    (
        {"service": {"name": "a", "namespace": "b", "port": 0, "path": "x"}},
        [
            ".service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, "
            "inclusive",
            '.service.path: Invalid value: "x": must start with a \'/\'',
            '.service.path: Invalid value: "x": segment[0] may not be empty',
        ],
    ),
    (
        {"url": "http://x"},
        [
            ".url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired "
            "format: https://host[/path]"
        ],
    ),
    ({"url": "https://x", "service": {}},
     [": Required value: exactly one of url or service is required"]),
]  # fmt: skip


@pytest.mark.parametrize(("client", "errors"), CALLED)
def test_how_conversion_webhooks_are_called(client: Json, errors: list[str]) -> None:
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    found = texts({}, conversion={"strategy": "Webhook", "webhook": webhook})
    assert found == [f"spec.conversion.webhookClientConfig{one}" for one in errors]


@pytest.mark.parametrize(("conversion", "errors"), CONVERSIONS)
def test_conversions(conversion: Json, errors: list[str]) -> None:
    assert texts({}, conversion=conversion) == [f"spec.conversion.{one}" for one in errors]


@pytest.mark.parametrize(
    ("version", "errors"),
    [
        ({"deprecated": True, "deprecationWarning": "gone soon"}, []),
        (
            {"deprecationWarning": "x"},
            ['Invalid value: "x": can only be set for deprecated versions'],
        ),
        (
            {"deprecated": True, "deprecationWarning": ""},
            ['Invalid value: "": must not be an empty string'],
        ),
        (
            {"deprecated": True, "deprecationWarning": "x" * 257},
            [f'Invalid value: "{"x" * 257}": must be <= 256 characters long'],
        ),
    ],
)
def test_deprecations(version: Json, errors: list[str]) -> None:
    assert texts(version) == [f"spec.versions[0].deprecationWarning: {one}" for one in errors]


SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
NEEDS = 'protected groups must have approval annotation "api-approved.kubernetes.io"'


@pytest.mark.parametrize(
    ("group", "said", "errors"),
    [
        ("example.com", "", []),
        ("x-k8s.io", "", []),
        ("a.k8s.io", "https://github.com/x/1", []),
        ("a.k8s.io", "unapproved, try it", []),
        ("a.kubernetes.io", "", [f"Required value: {NEEDS}, {SEE}"]),
        (
            "a.k8s.io",
            "yes",
            [
                f'Invalid value: "yes": {NEEDS} with either a URL or a reason starting with '
                f'"unapproved", {SEE}'
            ],
        ),
    ],
)
def test_groups_of_the_community(group: str, said: str, errors: list[str]) -> None:
    found = [str(one) for one in approval_errors(group, {APPROVAL: said} if said else {})]
    assert found == [f"metadata.annotations[api-approved.kubernetes.io]: {one}" for one in errors]


def test_unknown_fields_are_kept_in_schemas_only() -> None:
    assert texts({}, preserveUnknownFields=True) == [
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
        "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    ]


def test_fields_are_only_selected_of_a_schema() -> None:
    field = {"selectableFields": [{"jsonPath": ".spec.size"}]}
    assert texts({"schema": None}, {**field, "schema": None}) == [
        "spec.versions[0].schema.openAPIV3Schema: Required value",
        "spec.versions[1].schema.openAPIV3Schema: Required value",
        'spec.versions[1].selectableFields: Invalid value: "": may only be set when '
        "`version.schema.openAPIV3Schema` is not included",
    ]


def test_fields_of_a_schema_that_cannot_be_read_need_a_path() -> None:
    schema = {"type": "object", "additionalItems": True}
    one = {"selectableFields": [{}], "schema": {"openAPIV3Schema": schema}}
    assert "spec.versions[1].selectableFields[0].jsonPath: Required value" in texts({}, one)


def test_what_is_stored_may_use_what_only_this_version_has() -> None:
    demands = Demands(
        stored_rules=frozenset({"rule"}),
        stored_messages=frozenset({"message"}),
    )
    assert demands.rule_environment("rule") is environment("1.36")
    assert demands.rule_environment("message") is environment("1.35")
    assert demands.message_environment("message") is environment("1.36")
    assert demands.message_environment("rule") is environment("1.35")
