"""Policies and bindings: decoded, defaulted and validated as the API server would on writing them.

One that the API server would not accept becomes a `PolicyError` at the line of the faulty field, in
the API server's words; the others go to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from celadon.admission import (
    Source,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    decode_binding,
    decode_policy,
)
from celadon.admission.registration import (
    Decoded,
    RegistrationError,
    RegistrationObject,
    validate_binding,
    validate_object_meta,
    validate_policy,
)
from celadon.cli.checking.check_report import Place, PolicyError
from celadon.cli.checking.manifests import Manifests
from celadon.cli.crashes import crash
from celadon.cli.reading.documents import Document
from celadon.kube import FieldError, FieldPath, GroupKind, fieldpath, metadata, status
from celadon.kube.well_known_values import ADMISSION_REGISTRATION

T = TypeVar("T")
R = TypeVar("R", bound=RegistrationObject)


@dataclass(frozen=True, slots=True)
class Placed(Generic[T]):
    """A decoded object and the document it was decoded from."""

    value: T
    document: Document

    def place(self, path: FieldPath = fieldpath.ROOT) -> Place:
        """Where a field of it stands; the object itself without a path."""
        return Place(self.document.file, self.document.line(path.steps))


@dataclass(slots=True)
class PolicySet:
    """What judges, by name, and what was meant to but cannot."""

    policies: dict[str, Placed[ValidatingAdmissionPolicy]] = field(default_factory=dict)
    bindings: dict[str, Placed[ValidatingAdmissionPolicyBinding]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    errors: list[PolicyError] = field(default_factory=list)

    def place(self, source: Source, policy: str, binding: str) -> Place:
        """Where it stands what a decision about this policy and binding comes from."""
        if source.in_binding:
            return self.bindings[binding].place(source.path)
        return self.policies[policy].place(source.path)


def policy_set(manifests: Manifests, version: str) -> PolicySet:
    """Decodes all of them. The later of two with one name replaces the earlier, as on `apply`."""
    found = PolicySet()
    for document in manifests.policies:
        name = metadata.name(document.value)
        try:
            policy = _policy(document, version, found)
        except Exception as error:  # noqa: BLE001 - one policy's trouble is not the others'
            problem = crash(document.file, document.line(), "reading this policy", error)
            manifests.problems.append(problem)
            policy = None
        if policy is None:
            found.broken.add(name)
            found.policies.pop(name, None)
        else:
            found.broken.discard(name)
            found.policies[name] = policy
    for document in manifests.bindings:
        binding = _binding(document, found)
        if binding is not None:
            found.bindings[binding.value.name] = binding
    return found


def only(found: PolicySet, names: Sequence[str]) -> PolicySet:
    """The part of the set that is about these policies."""
    return PolicySet(
        {name: one for name, one in found.policies.items() if name in names},
        {name: one for name, one in found.bindings.items() if one.value.spec.policy_name in names},
        {name for name in found.broken if name in names},
        [error for error in found.errors if error.policy in names],
    )


def _policy(
    document: Document, version: str, found: PolicySet
) -> Placed[ValidatingAdmissionPolicy] | None:
    def complaints(policy: ValidatingAdmissionPolicy) -> list[FieldError]:
        return validate_policy(policy, version=version)

    return accepted(document, decode_policy, complaints, found.errors)


def _binding(
    document: Document, found: PolicySet
) -> Placed[ValidatingAdmissionPolicyBinding] | None:
    return accepted(document, decode_binding, validate_binding, found.errors)


def accepted(
    document: Document,
    decode: Callable[[object, str], Decoded[R]],
    complaints: Callable[[R], list[FieldError]],
    errors: list[PolicyError],
) -> Placed[R] | None:
    """What a document says, if the API server would accept it; else the reasons go to `errors`."""
    try:
        decoded = decode(document.value, _version_of(document))
    except RegistrationError as error:
        errors.append(_undecodable(document, error))
        return None
    wrong = _unknown(document, decoded.unknown_fields)
    if not wrong:
        found = validate_object_meta(decoded.value.metadata)
        wrong = _invalid(document, [*found, *complaints(decoded.value)])
    errors += wrong
    return None if wrong else Placed(decoded.value, document)


def _version_of(document: Document) -> str:
    return str(document.value["apiVersion"]).rpartition("/")[2]


def _policy_name(document: Document) -> str:
    """The policy that a document is, or is about."""
    spec = document.value.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("policyName"), str):
        return str(spec["policyName"])
    return metadata.name(document.value)


def _error(document: Document, path: FieldPath, message: str) -> PolicyError:
    return PolicyError(
        Place(document.file, document.line(path.steps)),
        str(document.value["kind"]),
        metadata.name(document.value),
        _policy_name(document),
        message,
    )


def _undecodable(document: Document, error: RegistrationError) -> PolicyError:
    return _error(document, error.path, str(error))


def _unknown(document: Document, fields: Sequence[FieldPath]) -> list[PolicyError]:
    kind = document.value["kind"]
    head = f'{kind} in version "{_version_of(document)}" cannot be handled as a {kind}'
    return [
        _error(document, path, f'{head}: strict decoding error: unknown field "{path}"')
        for path in fields
    ]


def _invalid(document: Document, errors: Sequence[FieldError]) -> list[PolicyError]:
    kind = GroupKind(ADMISSION_REGISTRATION, str(document.value["kind"]))
    name = metadata.name(document.value)
    return [
        _error(document, error.path, status.invalid(kind, name, [error]).status.message)
        for error in errors
    ]
