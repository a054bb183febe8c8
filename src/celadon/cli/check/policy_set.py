"""Policies and bindings: decoded, defaulted and validated as the API server would on writing them.

One that the API server would not accept becomes a `PolicyError` at the line of the faulty field, in
the API server's words; the others go to the engine. Those whose names are for files of the server
(`.static.k8s.io`) are static ones, and must be what such files may have.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Generic, TypeVar

from celadon.admission import (
    Engine,
    ExpressionMemory,
    PolicyEngine,
    Source,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.admission.registration import (
    Binding,
    Decoded,
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    Policy,
    RegistrationError,
    RegistrationObject,
    decode_object,
    missing_kind,
    validate_create,
    validate_object_meta,
)
from celadon.admission.static import is_static, static_errors
from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.check.manifests import Manifests
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem, crash
from celadon.kube import FieldError, FieldPath, GroupKind, fieldpath, metadata, status
from celadon.kube.registry import request_bodies
from celadon.kube.schemas import StrayField
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.policies.mutating import MutatingEngine

T = TypeVar("T")
R = TypeVar("R", bound=RegistrationObject)


E = TypeVar("E", bound=PolicyEngine)


@dataclass(frozen=True, slots=True)
class Placed(Generic[T]):
    """A decoded object and the document it was decoded from."""

    value: T
    document: Document

    def place(self, path: FieldPath = fieldpath.ROOT) -> Place:
        """Return where a field of it stands; the object itself without a path."""
        return Place(self.document.file, self.document.line(path.steps))


@dataclass(slots=True)
class PolicySet:
    """Policies of one type, validating or mutating, by name; and what was meant to be one but
    cannot."""

    policies: dict[str, Placed[Policy]] = field(default_factory=dict)
    bindings: dict[str, Placed[Binding]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    errors: list[PolicyError] = field(default_factory=list)
    unserved: list[PolicyError] = field(default_factory=list)
    """What a server of the release would say of those that were taken all the same."""

    def place(self, source: Source, policy: str, binding: str) -> Place:
        """Return where it stands what a decision about this policy and binding comes from."""
        if source.in_binding:
            return self.bindings[binding].place(source.path)
        return self.policies[policy].place(source.path)

    def expression(self, source: Source, policy: str) -> str:
        """The expression that a decision about this policy comes from; empty if it is none."""
        if source.in_binding:
            return ""
        found = self.policies[policy].document.value_at(source.path.steps)
        return found if isinstance(found, str) else ""


@dataclass(slots=True)
class PolicySets:
    """Both types."""

    validating: PolicySet
    mutating: PolicySet

    @property
    def all(self) -> tuple[PolicySet, PolicySet]:
        """In the order in which a request meets them."""
        return self.mutating, self.validating


def policy_sets(manifests: Manifests, version: str, *, unserved: bool = False) -> PolicySets:
    """Decodes all of them; trouble of our own goes to the manifests' problems. With `unserved`,
    those that the release does not know (any more) are taken, too: a webhook enforces them
    instead, and `celadon test` has a word of its own for them."""
    problems = manifests.problems
    read = functools.partial(policy_set, version=version, problems=problems, unserved=unserved)
    return PolicySets(
        read(manifests.policies, manifests.bindings),
        read(manifests.mutating_policies, manifests.mutating_bindings),
    )


def policy_set(
    policies: Sequence[Document],
    bindings: Sequence[Document],
    version: str,
    problems: list[Problem],
    *,
    unserved: bool = False,
) -> PolicySet:
    """Decodes those of one type. The later of two with one name replaces the earlier, as on
    `apply`."""
    found = PolicySet()
    for document in policies:
        name = metadata.name(document.value)
        try:
            policy = _registered(document, version, found, unserved=unserved)
        except Exception as error:  # noqa: BLE001 - one policy's trouble is not the others'
            problems.append(crash(document.file, document.line(), "reading this policy", error))
            policy = None
        if isinstance(policy, Policy):
            found.broken.discard(name)
            found.policies[name] = Placed(policy, document)
        else:
            found.broken.add(name)
            found.policies.pop(name, None)
    for document in bindings:
        binding = _registered(document, version, found, unserved=unserved)
        if isinstance(binding, Binding):
            found.bindings[binding.name] = Placed(binding, document)
    _check_static(found)
    return found


def _check_static(found: PolicySet) -> None:
    """Refuse as broken what a server could not load from files."""
    every: list[tuple[Policy | Binding, Document]] = [
        (one.value, one.document)
        for placed in (found.policies, found.bindings)
        for one in placed.values()
        if is_static(one.value)
    ]
    for error in static_errors([value for value, _ in every]):
        value, document = every[error.number]
        if isinstance(value, Policy):
            found.broken.add(value.name)
            found.policies.pop(value.name, None)
        elif value.spec.policy_name in found.broken:
            continue
        else:
            found.bindings.pop(value.name, None)
        found.errors.append(document_error(document, error.path, error.text))


def validating_engine(
    given: PolicySet, version: str, memory: ExpressionMemory | None = None
) -> Engine:
    """Return the engine of a set of validating policies; `memory` is that of the engine."""
    return with_policies(
        Engine(version=version, memory=memory),
        validating_policies(given),
        validating_bindings(given),
    )


def with_policies(engine: E, policies: Iterable[Policy], bindings: Iterable[Binding]) -> E:
    """An engine with these in place of its own, static ones as such; those that are the same
    objects are not compiled again."""
    given, bound = list(policies), list(bindings)
    objects = engine.replaced(
        [one for one in given if not is_static(one)], [one for one in bound if not is_static(one)]
    )
    return objects.with_static(
        [one for one in given if is_static(one)], [one for one in bound if is_static(one)]
    )


def validating_policies(given: PolicySet) -> list[ValidatingAdmissionPolicy]:
    """Return those of a set."""
    found = (placed.value for placed in given.policies.values())
    return [one for one in found if isinstance(one, ValidatingAdmissionPolicy)]


def validating_bindings(given: PolicySet) -> list[ValidatingAdmissionPolicyBinding]:
    """Return those of a set."""
    found = (placed.value for placed in given.bindings.values())
    return [one for one in found if isinstance(one, ValidatingAdmissionPolicyBinding)]


def mutating_engine(
    given: PolicySet, version: str, memory: ExpressionMemory | None = None
) -> MutatingEngine:
    """Return the engine of a set of mutating policies; `memory` is that of the engine."""
    from celadon.admission.policies.mutating import MutatingEngine

    return with_policies(
        MutatingEngine(version=version, memory=memory),
        mutating_policies(given),
        mutating_bindings(given),
    )


def mutating_policies(given: PolicySet) -> list[MutatingAdmissionPolicy]:
    """Return those of a set."""
    found = (placed.value for placed in given.policies.values())
    return [one for one in found if isinstance(one, MutatingAdmissionPolicy)]


def mutating_bindings(given: PolicySet) -> list[MutatingAdmissionPolicyBinding]:
    """Return those of a set."""
    found = (placed.value for placed in given.bindings.values())
    return [one for one in found if isinstance(one, MutatingAdmissionPolicyBinding)]


def only(found: PolicySets, names: Sequence[str]) -> PolicySets:
    """The part of the sets that is about these policies."""
    return PolicySets(_only(found.validating, names), _only(found.mutating, names))


def _only(found: PolicySet, names: Sequence[str]) -> PolicySet:
    return PolicySet(
        {name: one for name, one in found.policies.items() if name in names},
        {name: one for name, one in found.bindings.items() if one.value.spec.policy_name in names},
        {name for name in found.broken if name in names},
        [error for error in found.errors if error.policy in names],
    )


def _registered(
    document: Document, version: str, found: PolicySet, *, unserved: bool
) -> RegistrationObject | None:
    kind = str(document.value["kind"])
    gvk = metadata.gvk(document.value)
    missing = missing_kind(gvk, version, also_gone=True)
    if missing:
        error = document_error(document, FieldPath("apiVersion"), missing)
        (found.unserved if unserved else found.errors).append(error)
        if not unserved:
            return None

    def decode(value: object, served: str) -> Decoded[RegistrationObject]:
        return decode_object(value, kind, served)

    def complaints(value: RegistrationObject) -> list[FieldError]:
        return validate_create(value, version)

    placed = accepted(document, decode, complaints, found.errors)
    return None if placed is None else placed.value


def accepted(
    document: Document,
    decode: Callable[[object, str], Decoded[R]],
    complaints: Callable[[R], list[FieldError]],
    errors: list[PolicyError],
) -> Placed[R] | None:
    """Return what a document says, if the API server would accept it; else the reasons go to
    `errors`."""
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


def document_error(document: Document, path: FieldPath, message: str) -> PolicyError:
    """Return what is wrong with a field of a policy, a binding or a configuration."""
    return PolicyError(
        Place(document.file, document.line(path.steps)),
        str(document.value["kind"]),
        metadata.name(document.value),
        _policy_name(document),
        message,
    )


def _undecodable(document: Document, error: RegistrationError) -> PolicyError:
    return document_error(document, error.path, str(error))


def _unknown(document: Document, fields: Sequence[StrayField]) -> list[PolicyError]:
    kind = document.value["kind"]
    head = f'{kind} in version "{_version_of(document)}" cannot be handled as a {kind}'
    return [
        document_error(
            document,
            FieldPath(*one.steps),
            f"{head}: {request_bodies.strict_decoding_error([one.text])}",
        )
        for one in fields
    ]


def _invalid(document: Document, errors: Sequence[FieldError]) -> list[PolicyError]:
    kind = GroupKind(ADMISSION_REGISTRATION, str(document.value["kind"]))
    name = metadata.name(document.value)
    return [
        document_error(document, error.path, status.invalid(kind, name, [error]).status.message)
        for error in errors
    ]
