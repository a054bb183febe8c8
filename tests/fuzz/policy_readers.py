"""Readers of policies of other engines, of sides that are compared, and of answers of conversion
webhooks.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any, Final

from celadon.admission.registration.decoding import decode_client_config
from celadon.admission.webhooks import Reply
from celadon.apiserver.conversion_webhooks import (
    ConversionFailed,
    ConversionWebhook,
    begin_conversion,
    read_conversion,
)
from celadon.cli.diff import read_side
from celadon.cli.migration.migration_run import Migration
from celadon.kube import GroupVersionKind
from celadon.migrate import NotTranslated
from celadon.migrate.kyverno.jmespath_expressions import read
from celadon.migrate.kyverno.jmespath_queries import Computed, Names
from celadon.migrate.kyverno.patterns import read_string, wildcard_match
from tests.fuzz.byte_reader import ByteReader, text_of

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="celadon-fuzz-")


def _file(name: str, data: bytes) -> str:
    path = Path(_FOLDER.name, name)
    path.write_bytes(data)
    return str(path)


# --- Kyverno -----------------------------------------------------------------


_NAMES: Final = Names({"request": Names({"name": Computed("request.name")}), "a": Computed("a")})


def _query(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jmespath's, of an older way to write a text
        read(text_of(data), _NAMES)


def _pattern(data: bytes) -> None:
    pattern, _, text = text_of(data).partition("\n")
    read_string(pattern)
    wildcard_match(pattern, text)


def _migration(data: bytes) -> None:
    Migration.of([_file("policy.yaml", data)])


_POLICY: Final = b"""apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod], names: ["a*"], selector: {matchLabels: {a: b}}}}]}
    exclude: {any: [{subjects: [{kind: User, name: u}], clusterRoles: [c]}]}
    context: [{name: v, variable: {value: "{{ request.object.metadata.name }}", default: x}}]
    preconditions: {all: [{key: "{{ request.operation }}", operator: AnyIn, value: [CREATE]}]}
    validate:
      message: "no {{ request.name }}"
      pattern:
        spec:
          containers:
          - {"(name)": "a*|!b", "=(image)": "?*:v1 & !*:latest", resources: {memory: <=4Gi}}
  - name: d
    match: {resources: {kinds: [apps/*/Deployment]}}
    validate:
      foreach:
      - list: request.object.spec.template.spec.containers[]
        deny: {conditions: {any: [{key: "{{ element.image }}", operator: Equals, value: 1h}]}}
"""
_CEL_POLICY: Final = b"""apiVersion: policies.kyverno.io/v1alpha1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  variables: [{name: v, expression: "object.metadata.name"}]
  validations: [{expression: "variables.v != 'a'", message: m}]
"""


# --- Sides that are compared -------------------------------------------------


def _side(data: bytes) -> None:
    read_side("new", [_file("side.yaml", data)], "1.36")


_SIDE: Final = b"""apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "object.metadata.name != 'a'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {a: b}}}
"""


# --- Conversions -------------------------------------------------------------


_OLD: Final = GroupVersionKind("example.com", "v1", "Thing")
_NEW: Final = GroupVersionKind("example.com", "v2", "Thing")
_SENT: Final[dict[str, Any]] = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"a": "b"}},
    "spec": {"size": 1},
}
_CALL: Final = begin_conversion(
    ConversionWebhook(
        decode_client_config({"url": "https://a"}), ("v1",), (_OLD, _NEW), _OLD, "1", "things"
    ),
    [_SENT],
    "example.com/v2",
    "u",
)
_CONVERTED: Final = (
    b'{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u",'
    b'"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"example.com/v2",'
    b'"kind":"Thing","metadata":{"name":"a","namespace":"n","uid":"u","labels":{"a":"c"},'
    b'"annotations":{"x":"y"}},"spec":{"size":"1"}}]}}'
)


def _conversion(data: bytes) -> None:
    read_conversion(_CALL, Reply(200, data), [_SENT], _NEW)


POLICY_READERS: Final = (
    ByteReader(
        "jmespath",
        _query,
        (NotTranslated,),
        (
            b"request.object.spec.containers[?name=='a'].image | [0]",
            b"length(a.b[*].c[]) > `1` && !contains(keys(@), 'x') || \"{{ request.name }}\"",
            b"regex_match('^a', '{{ request.name }}') && split(a, ':')[-1] == to_upper('b')",
        ),
        (b"[?", b"[*]", b"[]", b"[0:2:-1]", b"`", b"{a: b}", b"&a", b"'{{", b"}}'", b" || ", b"@"),
    ),
    ByteReader(
        "kyverno-pattern",
        _pattern,
        (),
        (b"!a* & >=1Gi | 1-5 | <10m\nabc", b"?*:*\nregistry/image:tag"),
        (b"*", b"?", b" | ", b" & ", b"!", b">=", b"!-", b"1h30m", b"1.5Gi"),
    ),
    ByteReader(
        "kyverno-policy",
        _migration,
        (),
        (_POLICY, _CEL_POLICY),
        (b"{{ ", b" }}", b"^(", b"+(", b"X(", b"<(", b"?*", b"element", b"anyPattern", b"deny"),
        warms_up=True,
    ),
    ByteReader("diff-side", _side, (), (_SIDE,), (b"paramKind", b"variables", b"---\n")),
    ByteReader(
        "conversion-answer",
        _conversion,
        (ConversionFailed,),
        (_CONVERTED,),
        (b"null", b"{}", b"[]", b'"metadata":', b'"finalizers":', b'"generateName":'),
    ),
)
