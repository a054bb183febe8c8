"""The JSON schema of files of kind PolicyTest: what may be in them, and what it means.

It is the one place where the format stands. Files are read by it, editors are given it
(`celadon test schema`, `docs/schemas/policy-test.json`).
"""

from __future__ import annotations

from typing import Final

from celadon.cli.celadon_documents import API_VERSION
from celadon.cli.policytest.case_results import UNMATCHED, CaseVerdict
from celadon.kube.json_types import JsonDict

KIND: Final = "PolicyTest"

_OPERATIONS: Final = ["CREATE", "UPDATE", "DELETE", "CONNECT"]
VERDICTS: Final = [verdict.value for verdict in CaseVerdict]
SNAPSHOT: Final = "snapshot"
"""What stands for an expectation until `--update` writes down what happens."""

Shape = JsonDict


def _text(description: str, **more: object) -> Shape:
    return {"description": description, "type": "string", **more}


def _list(description: str, items: Shape, **more: object) -> Shape:
    return {"description": description, "type": "array", "items": items, **more}


def _map(description: str, values: Shape) -> Shape:
    return {"description": description, "type": "object", "additionalProperties": values}


def _fields(description: str, fields: Shape, *required: str, **more: object) -> Shape:
    return {
        "description": description,
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def _ref(name: str) -> Shape:
    return {"$ref": f"#/$defs/{name}"}


_INLINE: Final = {
    "description": "An object as in a manifest.",
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
    },
    "required": ["apiVersion", "kind"],
}
_PATCH: Final = {
    "anyOf": [
        {"description": "A merge patch: null removes a field.", "type": "object"},
        _list(
            "A JSON patch.",
            _fields(
                "",
                {
                    "op": {"enum": ["add", "remove", "replace", "move", "copy", "test"]},
                    "path": _text("A JSON pointer.", pattern="^(/.*)?$"),
                    "from": _text("A JSON pointer, for `move` and `copy`."),
                    "value": {},
                },
                "op",
                "path",
            ),
        ),
    ]
}
_DERIVED: Final = _fields(
    "An object of `objects` or of a file, and what is different about it.",
    {
        "base": _text("Its name in `objects`."),
        "file": _text("A file, relative to this one."),
        "kind": _text("Which of the objects of a file: its kind."),
        "name": _text("Which of the objects of a file: its name."),
        "patch": _ref("patch"),
    },
)
_OBJECT: Final = {
    "anyOf": [
        _text("The name of one of `objects`, or a file with one object, relative to this one."),
        _INLINE,
        _DERIVED,
    ]
}
_MANIFEST: Final = {
    "anyOf": [_text("A file, a folder or a pattern, relative to this file."), _INLINE]
}
_BINDING_SPEC: Final = {
    "description": "The spec of a binding that is given no name: of the policy's own kind.",
    "type": "object",
    "properties": {"policyName": {"type": "string"}},
    "required": ["policyName"],
}
_TEXT_MATCH: Final = {
    "anyOf": [
        _text("The whole text."),
        _fields("A part of the text.", {"contains": _text("What it contains.")}, "contains"),
        _fields(
            "A pattern.",
            {"matches": _text("A regular expression of RE2, found anywhere in it.")},
            "matches",
        ),
    ]
}
_NAMESPACE: Final = {
    "anyOf": [
        _text("The namespace of objects that do not say theirs."),
        _fields(
            "The same, and what the Namespace has.",
            {
                "name": _text("Its name (default: that of the object, or `default`)."),
                "labels": _map("Its labels.", {"type": "string"}),
                "annotations": _map("Its annotations.", {"type": "string"}),
            },
        ),
    ]
}
_ANSWER: Final = _fields(
    "What `authorizer` says; fields that are not given may be anything.",
    {
        "decision": {"enum": ["allow", "deny", "noOpinion"]},
        "user": _text("The name of the user."),
        "verb": _text("What somebody wants to do."),
        "group": _text("The API group of the resource."),
        "version": _text("Its version."),
        "resource": _text("The resource."),
        "subresource": _text("The subresource."),
        "namespace": _text("The namespace."),
        "name": _text("The name of the object."),
        "path": _text("The path, of what is no resource."),
        "reason": _text("Why."),
        "error": _text("What went wrong."),
    },
    "decision",
)
_VERSIONS: Final = _list(
    "Releases of Kubernetes; each case is run with each.",
    {"type": "string", "pattern": r"^v?1\.\d+$"},
    minItems=1,
)
_NAMES: Final = {
    "anyOf": [_text("The policy under test."), _list("Those under test.", {"type": "string"})]
}

_AROUND: Final = {
    "resources": _list("What there is in the cluster.", _ref("manifest")),
    "params": _list("Params: objects that policies look up.", _ref("manifest")),
    "crds": _list("CustomResourceDefinitions.", _ref("manifest")),
    "namespaces": _map("Namespaces, by name, with their labels.", _map("", {"type": "string"})),
    "bindings": _list(
        "Bindings besides those that stand with the policies; one of the same name is replaced.",
        {"anyOf": [_text("A file, a folder or a pattern."), _INLINE, _BINDING_SPEC]},
    ),
    "policy": _NAMES,
    "kubernetesVersions": _VERSIONS,
}
_CASE: Final = {
    **_AROUND,
    "object": _ref("object"),
    "patch": _ref("patch"),
    "oldObject": _ref("object"),
    "oldPatch": _ref("patch"),
    "operation": {"enum": _OPERATIONS},
    "subresource": _text("E.g. `status`, `scale` or `exec`."),
    "user": _text("Who asks."),
    "groups": _list("The groups of the user.", {"type": "string"}),
    "uid": _text("The uid of the user."),
    "extra": _map("What else is known of the user.", _list("", {"type": "string"})),
    "namespace": _NAMESPACE,
    "authorizer": _list("Answers of `authorizer`; the first that fits counts.", _ref("answer")),
    "generated": {
        "description": "Judge what controllers would create of the object, in its stead.",
        "enum": ["Pod", "Job", "ReplicaSet", "PersistentVolumeClaim"],
    },
    "dryRun": {"description": "Whether it is a dry run.", "type": "boolean"},
    "skip": _text("Why the case is not to be run."),
}
EXPECTATION_FIELDS: Final = {
    "verdict": {"enum": VERDICTS},
    **{name: _ref("text") for name in ("deny", "warn", "audit", "error")},
    "message": _ref("text"),
    "policy": _text("The policy that decides."),
    "validation": {
        "anyOf": [
            {"description": "The index of the one that decides.", "type": "integer", "minimum": 0},
            _text("Its expression."),
        ]
    },
    "violations": {
        "description": "How many validations decide, of those that have the `message`.",
        "type": "integer",
        "minimum": 1,
    },
    "reason": _text("The reason of the answer."),
    "code": {"description": "The code of the answer.", "type": "integer"},
    "because": {
        "description": "Why nothing matches.",
        "enum": [verdict.value for verdict in UNMATCHED],
    },
    "warnings": _list("All warnings that policies give, in order.", _ref("text")),
    "auditAnnotations": _map("Audit annotations, by their key, or `POLICY/KEY`.", _ref("text")),
    "object": {
        "description": "What is in the object after it was mutated; null: what is not.",
        "type": "object",
    },
    "patch": _ref("patch"),
}
_EXPECT: Final = {
    "anyOf": [
        {"type": "string", "enum": [*VERDICTS, SNAPSHOT]},
        _fields("What is expected, and how exactly.", EXPECTATION_FIELDS),
    ]
}
CASE_FIELDS: Final = {
    "name": _text("What the case is about.", minLength=1),
    **_CASE,
    "expect": _EXPECT,
}

SCHEMA: Final[Shape] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://celadon.dev/schemas/policy-test.json",
    "title": KIND,
    **_fields(
        "Cases for admission policies, run by `celadon test`.",
        {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "metadata": _fields("", {"name": _text("What the test is called.")}),
            "policies": _list(
                "The policies and their bindings (default: the file of the same name beside this "
                "one, `limit.yaml` for `limit.policytest.yaml`; else all files beside it).",
                _ref("manifest"),
            ),
            **_AROUND,
            "objects": _map("Objects that cases refer to by name.", _ref("object")),
            "admissionPlugins": _fields(
                "The server's own plugins (PodSecurity, LimitRanger, ResourceQuota ...), which are "
                "asked like policies, as far as they are enabled.",
                {
                    "enable": _list("Those beside the default ones.", {"type": "string"}),
                    "disable": _list("Those of the default ones to leave out.", {"type": "string"}),
                },
            ),
            "now": _text("When it is, in RFC 3339."),
            "defaults": _fields("What all cases have, unless they say otherwise.", _CASE),
            "cases": _list(
                "The cases.",
                _fields("A request, and what is expected of it.", CASE_FIELDS, "name", "expect"),
                minItems=1,
            ),
        },
        "apiVersion",
        "kind",
        "cases",
    ),
    "$defs": {
        "object": _OBJECT,
        "manifest": _MANIFEST,
        "patch": _PATCH,
        "text": _TEXT_MATCH,
        "answer": _ANSWER,
    },
}
