"""CEL001 to CEL009: what the API server refuses, or takes for something else than was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from celadon.admission.lint.findings import FieldPosition, PolicyExpression, Replacement, Severity
from celadon.admission.lint.lint_context import Bundle, Registered, Report, Rule, at_offset
from celadon.admission.registration.decoding import RegistrationError, missing_kind
from celadon.cel import Environment
from celadon.kube import FieldError, FieldPath, Json, JsonObject, metadata
from celadon.kube.crd import definition_errors
from celadon.kube.library import environment, previous_minor
from celadon.kube.releases import answering_as
from celadon.kube.schemas import DecodeError, round_trip
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.late_patterns import late_pattern

# --- Definition reports ------------------------------------------------------
#
# What the API server has against CustomResourceDefinitions and their rules.
#
# A definition is looked at as it is when it is created: names and the conversion defaulted,
# without a status of its own. Mistakes in rules (`x-kubernetes-validations`) are shown where
# they are in the rule.

_HOISTED: Final = ("spec", "validation", "openAPIV3Schema")
"""Where the API server sees the schema that all versions share."""
_MISTAKE: Final = late_pattern(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)", re.ASCII)


def definition_reports(document: int, definition: JsonObject, version: str) -> Iterator[Report]:
    """Yield what is wrong with one definition, of which the parts that name its kinds have their
    shapes."""
    gvk = metadata.gvk(definition)
    try:
        round_trip(definition, gvk)
    except DecodeError as undecoded:
        failure = RegistrationError(gvk.kind, gvk.version, undecoded)
        yield Report(FieldPosition(document, failure.path), str(failure))
        return
    with answering_as(version):
        errors = definition_errors(_created(definition))
    for error in errors:
        path = _written(definition, error.path)
        reports = list(_mistakes(document, definition, path, error))
        yield from reports or [
            Report(FieldPosition(document, path), f"{error.field}: {error.body}")
        ]


def _created(value: JsonObject) -> dict[str, Json]:
    spec = value["spec"]
    kind = spec["names"]["kind"]
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **spec["names"]}
    stored = [version["name"] for version in spec["versions"] if version.get("storage")]
    return {
        **value,
        "spec": {"conversion": {"strategy": "None"}, **spec, "names": names},
        "status": {"storedVersions": stored},
    }


def _written(definition: JsonObject, path: FieldPath) -> FieldPath:
    """Return the path in the document."""
    if path.steps[:3] != _HOISTED:
        return path
    for number, version in enumerate(definition["spec"]["versions"]):
        if "schema" in version:
            below = ("spec", "versions", number, "schema", "openAPIV3Schema")
            return FieldPath(*below, *path.steps[3:])
    return path


def _mistakes(
    document: int, definition: JsonObject, path: FieldPath, error: FieldError
) -> Iterator[Report]:
    """Yield those in the expression of a rule; none where the rule is something else than wrong."""
    value: Json = definition
    for step in path.steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
    if not isinstance(value, str):
        return
    lines = value.split("\n")
    for match in _MISTAKE.finditer(error.detail):
        line, column = int(match[1]), int(match[2])
        offset = sum(len(line) + 1 for line in lines[: line - 1]) + column - 1
        yield Report(FieldPosition(document, path, offset), match[3])


_DENY_AND_WARN: Final = "must not contain both Deny and Warn"
_DROPPED: Final = "the API server drops it, or refuses the object under strict validation"
_CURRENT: Final = f"{ADMISSION_REGISTRATION}/v1"
_BEHIND: Final = frozenset(
    {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
    | {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
)
"""Kinds that have been `v1` for long."""


def _invalid(bundle: Bundle) -> Iterator[Report]:
    for registered in bundle.registered:
        if missing := missing_kind(registered.kind, bundle.settings.version):
            yield Report(FieldPosition(registered.document, FieldPath("apiVersion"), 0), missing)
        if registered.failure is not None:
            yield Report(
                FieldPosition(registered.document, registered.failure.path), str(registered.failure)
            )
        for error in registered.errors:
            if not error.detail.startswith(_DENY_AND_WARN):
                yield from _explained(registered, error)
    for number, definition in bundle.definitions:
        yield from definition_reports(number, definition, bundle.settings.version)


def _explained(registered: Registered, error: FieldError) -> Iterator[Report]:
    """Yield one report for each mistake in an expression, or one for the field."""
    if not error.issues:
        yield Report(FieldPosition(registered.document, error.path), f"{error.field}: {error.body}")
    for issue in error.issues:
        yield Report(FieldPosition(registered.document, error.path, issue.offset), issue.message)


def _unknown(bundle: Bundle) -> Iterator[Report]:
    for registered in bundle.registered:
        for field in registered.unknown_fields:
            hint = f", did you mean `{field.likely}`?" if field.likely else ""
            message = f"there is no field `{field.path}`{hint}"
            yield Report(
                FieldPosition(registered.document, FieldPath(*field.steps)), message, _DROPPED
            )


def _duplicates(bundle: Bundle) -> Iterator[Report]:
    seen: dict[tuple[str, str], int] = {}
    for registered in bundle.registered:
        name = metadata.name(registered.source)
        key = (registered.kind.kind, name)
        if name and key in seen:
            message = f"a second {registered.kind.kind} `{name}`: on apply it replaces the first"
            yield Report(FieldPosition(registered.document, FieldPath("metadata", "name")), message)
        seen.setdefault(key, registered.document)


def _old_versions(bundle: Bundle) -> Iterator[Report]:
    for registered in bundle.registered:
        if registered.kind.kind in _BEHIND and registered.kind.version != "v1":
            spot = FieldPosition(registered.document, FieldPath("apiVersion"), 0)
            old = f"{ADMISSION_REGISTRATION}/{registered.kind.version}"
            fix = Replacement(spot, old, _CURRENT)
            message = f"`{old}` is not served by current clusters"
            yield Report(spot, message, f"use `{_CURRENT}`", fix)


def _newer(bundle: Bundle) -> Iterator[Report]:
    """Yield what other releases would refuse as new. What is wrong in this one anyway is no
    news."""
    for registered in bundle.registered:
        if missing_kind(registered.kind, bundle.settings.version):
            continue
        for version in bundle.settings.further_releases:
            if missing := missing_kind(registered.kind, version):
                text = f"Kubernetes {version} would refuse this: {missing}"
                yield Report(FieldPosition(registered.document, FieldPath("apiVersion"), 0), text)
    for case in bundle.cases:
        for expression in case.expressions:
            lacking: dict[tuple[int | None, str], list[str]] = {}
            for version in (
                bundle.settings.further_releases if expression.checked is not None else ()
            ):
                env = _in_release(environment(previous_minor(version)), expression)
                for issue in env.compile(expression.text).issues:
                    lacking.setdefault((issue.offset, issue.message), []).append(version)
            for (offset, message), versions in lacking.items():
                releases = ", ".join(versions)
                text = f"Kubernetes {releases} would refuse this as new: {message}"
                yield Report(at_offset(case.document, expression, offset), text)


def _in_release(release: Environment, expression: PolicyExpression) -> Environment:
    """Return what the expression may name, in another release."""
    declared = expression.env.declarations
    declarations = release.declarations
    return release.extend(
        {name: t for name, t in declared.variables.items() if name not in declarations.variables},
        [record for name, record in declared.objects.items() if name not in declarations.objects],
    )


RULES: Final = (
    Rule(
        "CEL001",
        "invalid",
        Severity.ERROR,
        "The API server would refuse this object. The texts are the API server's; a mistake in an "
        "expression is shown where it is. So are mistakes in the rules of "
        "CustomResourceDefinitions.",
        "validations:\n- expression: object.spec.replicas =< 5\n",
        "validations:\n- expression: object.spec.replicas <= 5\n",
        _invalid,
    ),
    Rule(
        "CEL002",
        "unknown-field",
        Severity.ERROR,
        "A field that the kind does not have. The API server drops it with a warning, so what it "
        "was meant to do is not done.",
        "validation:\n- expression: 'true'\nvalidations:\n- expression: 'true'\n",
        "validations:\n- expression: 'true'\n",
        _unknown,
    ),
    Rule(
        "CEL003",
        "duplicate-name",
        Severity.ERROR,
        "Two objects of one kind have the same name. Applying both leaves only the later one, in "
        "whatever order they are applied.",
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: same}\n"
        "spec: {policyName: a, validationActions: [Deny]}\n---\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: same}\n"
        "spec: {policyName: b, validationActions: [Deny]}\n",
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: one}\n"
        "spec: {policyName: a, validationActions: [Deny]}\n---\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: two}\n"
        "spec: {policyName: b, validationActions: [Deny]}\n",
        _duplicates,
    ),
    Rule(
        "CEL004",
        "old-api-version",
        Severity.WARNING,
        "The object is written in a version of the API that clusters no longer serve by default. "
        "The fields are the same in `v1`, so changing the version is all there is to do.",
        "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: ValidatingAdmissionPolicyBinding\n"
        "metadata: {name: b}\nspec: {policyName: p, validationActions: [Deny]}\n",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
        "metadata: {name: b}\nspec: {policyName: p, validationActions: [Deny]}\n",
        _old_versions,
    ),
    Rule(
        "CEL005",
        "newer-function",
        Severity.WARNING,
        "The expression uses something that a release which has to run the policy does not have. "
        "Name all releases of your clusters with `--kubernetes-version`, or in the configuration. "
        "A release accepts in new expressions only what the release before it knew.",
        "validations:\n- expression: \"semver('1.2.3').major() == 1\"\n",
        "validations:\n- expression: \"'1.2.3'.startsWith('1.')\"\n",
        _newer,
    ),
)
