"""The parts that documents play, and what the policies, bindings and webhook configurations among
them say.

A document's kind decides: policies and bindings judge (unless they are RESOURCES that `--admit`
names: static policies judge policies), everything else exists. What was given with
`-f` describes the cluster and is only looked up (params, namespaces, CRDs, RBAC objects, ...); what
was given as a RESOURCE is to be admitted, and may be looked up as well, as it would be in a cluster
once it is there. Without any RESOURCE, the documents of `-f` that are of none of the kinds usually
looked up are the ones to admit. `--lookup` and `--admit` decide for a kind where that is wrong.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from celadon import admission
from celadon.admission import registration
from celadon.admission.static_manifests import is_static, static_errors
from celadon.cli.check.check_report import Place, PolicyError, WebhookCall
from celadon.cli.options import did_you_mean
from celadon.cli.project_config import other_file, passed_over
from celadon.cli.reading.documents import (
    NOTHING_EXCLUDED,
    Document,
    DocumentArchive,
    DocumentReader,
    Exclusion,
    Kind,
    Problem,
    crash,
    expand_paths,
    read_text,
    shape_problem,
)
from celadon.kube import (
    FieldError,
    FieldPath,
    GroupKind,
    GroupVersionKind,
    StatusError,
    fieldpath,
    metadata,
    status,
)
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.registry import request_bodies
from celadon.kube.resources import known_resources
from celadon.kube.schemas import StrayField
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, RBAC_GROUP
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.admission.policies.mutating import MutatingEngine
    from celadon.admission.webhooks import Hook, HookSet
    from celadon.cli.check.object_mutation import ObjectMutation


# --- Policies and bindings ---------------------------------------------------
#
# Policies and bindings: decoded, defaulted and validated as the API server would on writing them.
#
# One that the API server would not accept becomes a `PolicyError` at the line of the faulty
# field, in the API server's words; the others go to the engine. Those whose names are for files
# of the server (`.static.k8s.io`) are static ones, and must be what such files may have.

T = TypeVar("T")
R = TypeVar("R", bound=registration.RegistrationObject)

E = TypeVar("E", bound=admission.PolicyEngine)


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

    policies: dict[str, Placed[registration.Policy]] = field(default_factory=dict)
    bindings: dict[str, Placed[registration.Binding]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    errors: list[PolicyError] = field(default_factory=list)
    unserved: list[PolicyError] = field(default_factory=list)
    """What a server of the release would say of those that were taken all the same."""
    replaced: list[tuple[Document, Document]] = field(default_factory=list)
    """Policies and bindings that a later one of the same name takes the place of, and that one."""

    def place(self, source: admission.Source, policy: str, binding: str) -> Place:
        """Return where it stands what a decision about this policy and binding comes from."""
        if source.in_binding:
            return self.bindings[binding].place(source.path)
        return self.policies[policy].place(source.path)

    def expression(self, source: admission.Source, policy: str) -> str:
        """Return the expression that a decision about this policy comes from; empty if it is
        none."""
        if source.in_binding:
            return ""
        value = self.policies[policy].document.value_at(source.path.steps)
        return value if isinstance(value, str) else ""


@dataclass(slots=True)
class PolicySets:
    """Holds the policies of both types, validating and mutating."""

    validating: PolicySet
    mutating: PolicySet

    @property
    def all(self) -> tuple[PolicySet, PolicySet]:
        """Return both sets in the order in which a request meets them."""
        return self.mutating, self.validating


def policy_sets(manifests: Manifests, version: str, *, unserved: bool = False) -> PolicySets:
    """Decode all of them; trouble of our own goes to the manifests' problems. With `unserved`,
    those that the release does not know (any more) are taken, too: a webhook enforces them instead,
    and `celadon test` has a word of its own for them."""
    problems = manifests.problems
    read_set = functools.partial(policy_set, version=version, problems=problems, unserved=unserved)
    return PolicySets(
        read_set(manifests.policies, manifests.bindings),
        read_set(manifests.mutating_policies, manifests.mutating_bindings),
    )


def policy_set(
    policies: Sequence[Document],
    bindings: Sequence[Document],
    version: str,
    problems: list[Problem],
    *,
    unserved: bool = False,
) -> PolicySet:
    """Decode those of one type. The later of two with one name replaces the earlier, as on
    `apply`."""
    result = PolicySet()
    for document in policies:
        name = metadata.name(document.value)
        try:
            policy = _registered(document, version, result, unserved=unserved)
        except Exception as error:  # noqa: BLE001 - one policy's trouble is not the others'
            problems.append(crash(document.file, document.line(), "reading this policy", error))
            policy = None
        if name in result.policies:
            result.replaced.append((result.policies[name].document, document))
        if isinstance(policy, registration.Policy):
            result.broken.discard(name)
            result.policies[name] = Placed(policy, document)
        else:
            result.broken.add(name)
            result.policies.pop(name, None)
    for document in bindings:
        binding = _registered(document, version, result, unserved=unserved)
        if isinstance(binding, registration.Binding):
            if binding.name in result.bindings:
                result.replaced.append((result.bindings[binding.name].document, document))
            result.bindings[binding.name] = Placed(binding, document)
    _check_static(result)
    return result


def _check_static(policies: PolicySet) -> None:
    """Refuse as broken what a server could not load from files."""
    placed_values: list[tuple[registration.Policy | registration.Binding, Document]] = [
        (entry.value, entry.document)
        for placed in (policies.policies, policies.bindings)
        for entry in placed.values()
        if is_static(entry.value)
    ]
    for error in static_errors([value for value, _ in placed_values]):
        value, document = placed_values[error.number]
        if isinstance(value, registration.Policy):
            policies.broken.add(value.name)
            policies.policies.pop(value.name, None)
        elif value.spec.policy_name in policies.broken:
            continue
        else:
            policies.bindings.pop(value.name, None)
        policies.errors.append(document_error(document, error.path, error.text))


def validating_engine(
    policies: PolicySet, version: str, memory: admission.ExpressionMemory | None = None
) -> admission.Engine:
    """Return the engine of a set of validating policies; `memory` is that of the engine."""
    return with_policies(
        admission.Engine(version=version, memory=memory),
        validating_policies(policies),
        validating_bindings(policies),
    )


def with_policies(
    engine: E, policies: Iterable[registration.Policy], bindings: Iterable[registration.Binding]
) -> E:
    """Return an engine with these in place of its own, static ones as such; those that are the same
    objects are not compiled again."""
    policy_list, bound = list(policies), list(bindings)
    objects = engine.replaced(
        [policy for policy in policy_list if not is_static(policy)],
        [binding for binding in bound if not is_static(binding)],
    )
    return objects.with_static(
        [policy for policy in policy_list if is_static(policy)],
        [binding for binding in bound if is_static(binding)],
    )


def validating_policies(policy_set: PolicySet) -> list[admission.ValidatingAdmissionPolicy]:
    """Return the validating policies of a set."""
    return _of_kind(policy_set.policies, admission.ValidatingAdmissionPolicy)


def validating_bindings(policy_set: PolicySet) -> list[admission.ValidatingAdmissionPolicyBinding]:
    """Return the bindings of validating policies of a set."""
    return _of_kind(policy_set.bindings, admission.ValidatingAdmissionPolicyBinding)


def mutating_engine(
    policies: PolicySet, version: str, memory: admission.ExpressionMemory | None = None
) -> MutatingEngine:
    """Return the engine of a set of mutating policies; `memory` is that of the engine."""
    from celadon.admission.policies.mutating import MutatingEngine

    return with_policies(
        MutatingEngine(version=version, memory=memory),
        mutating_policies(policies),
        mutating_bindings(policies),
    )


def mutating_policies(policy_set: PolicySet) -> list[registration.MutatingAdmissionPolicy]:
    """Return the mutating policies of a set."""
    return _of_kind(policy_set.policies, registration.MutatingAdmissionPolicy)


def mutating_bindings(policy_set: PolicySet) -> list[registration.MutatingAdmissionPolicyBinding]:
    """Return the bindings of mutating policies of a set."""
    return _of_kind(policy_set.bindings, registration.MutatingAdmissionPolicyBinding)


def _of_kind(placed: Mapping[str, Placed[Any]], kind: type[T]) -> list[T]:
    return [one.value for one in placed.values() if isinstance(one.value, kind)]


def only(sets: PolicySets, names: Sequence[str]) -> PolicySets:
    """Return the part of the sets that is about these policies."""
    return PolicySets(_only(sets.validating, names), _only(sets.mutating, names))


def _only(policies: PolicySet, names: Sequence[str]) -> PolicySet:
    return PolicySet(
        {name: policy for name, policy in policies.policies.items() if name in names},
        {
            name: binding
            for name, binding in policies.bindings.items()
            if binding.value.spec.policy_name in names
        },
        {name for name in policies.broken if name in names},
        [error for error in policies.errors if error.policy in names],
    )


def _registered(
    document: Document, version: str, policies: PolicySet, *, unserved: bool
) -> registration.RegistrationObject | None:
    kind = str(document.value["kind"])
    gvk = metadata.gvk(document.value)
    missing = registration.missing_kind(gvk, version, also_gone=True)
    if missing:
        hint = _served(gvk, version)
        error = document_error(document, FieldPath("apiVersion"), missing, hint)
        (policies.unserved if unserved else policies.errors).append(error)
        if not unserved:
            return None

    def decode(value: object, served: str) -> registration.Decoded[registration.RegistrationObject]:
        return registration.decode_object(value, kind, served)

    def complaints(value: registration.RegistrationObject) -> list[FieldError]:
        return registration.validate_create(value, version)

    placed = accepted(document, decode, complaints, policies.errors)
    return None if placed is None else placed.value


def _served(gvk: GroupVersionKind, version: str) -> str:
    """Return which version of a kind a release serves in the place of one that it does not."""
    for served in ("v1", "v1beta1", "v1alpha1"):
        other = GroupVersionKind(gvk.group, served, gvk.kind)
        if not registration.missing_kind(other, version, also_gone=True):
            return f"did you mean `apiVersion: {other.api_version}`?"
    return ""


def accepted(
    document: Document,
    decode: Callable[[object, str], registration.Decoded[R]],
    complaints: Callable[[R], list[FieldError]],
    errors: list[PolicyError],
) -> Placed[R] | None:
    """Return what a document says, if the API server would accept it; else the reasons go to
    `errors`."""
    try:
        decoded = decode(document.value, _version_of(document))
    except registration.RegistrationError as error:
        errors.append(document_error(document, error.path, str(error)))
        return None
    wrong = _unknown(document, decoded.unknown_fields)
    if not wrong:
        result = registration.validate_object_meta(decoded.value.metadata)
        wrong = _invalid(document, [*result, *complaints(decoded.value)])
    errors += wrong
    return None if wrong else Placed(decoded.value, document)


def _version_of(document: Document) -> str:
    return str(document.value["apiVersion"]).rpartition("/")[2]


def _policy_name(document: Document) -> str:
    """Return the policy that a document is, or is about."""
    spec = document.value.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("policyName"), str):
        return str(spec["policyName"])
    return metadata.name(document.value)


def document_error(
    document: Document, path: FieldPath, message: str, help_text: str = ""
) -> PolicyError:
    """Return what is wrong with a field of a policy, a binding or a configuration."""
    return PolicyError(
        Place(document.file, document.line(path.steps)),
        str(document.value["kind"]),
        metadata.name(document.value),
        _policy_name(document),
        message,
        help_text,
    )


def _unknown(document: Document, fields: Sequence[StrayField]) -> list[PolicyError]:
    kind = document.value["kind"]
    head = f'{kind} in version "{_version_of(document)}" cannot be handled as a {kind}'
    return [
        document_error(
            document,
            FieldPath(*item.steps),
            f"{head}: {request_bodies.strict_decoding_error([item.text])}",
        )
        for item in fields
    ]


def _invalid(document: Document, errors: Sequence[FieldError]) -> list[PolicyError]:
    kind = GroupKind(ADMISSION_REGISTRATION, str(document.value["kind"]))
    name = metadata.name(document.value)
    return [
        document_error(document, error.path, status.invalid(kind, name, [error]).status.message)
        for error in errors
    ]


# --- Which document plays which part -----------------------------------------

_JUDGES: Final = (
    registration.POLICY_KIND,
    registration.BINDING_KIND,
    registration.MUTATING_POLICY_KIND,
    registration.MUTATING_BINDING_KIND,
)
_LOOKED_UP: Final = frozenset({"Namespace", "CustomResourceDefinition"})


@dataclass(slots=True)
class Manifests:
    """The documents by their part, and what could not be read. `also_looked_up` are those of the
    admitted ones that policies, plugins or the command itself may look at while others are
    judged."""

    policies: list[Document] = field(default_factory=list)
    bindings: list[Document] = field(default_factory=list)
    mutating_policies: list[Document] = field(default_factory=list)
    mutating_bindings: list[Document] = field(default_factory=list)
    looked_up: list[Document] = field(default_factory=list)
    admitted: DocumentArchive = field(default_factory=DocumentArchive)
    also_looked_up: list[Document] = field(default_factory=list)
    old: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[Problem] = field(default_factory=list)
    """The files of folders that are no manifests (`project_config`)."""

    @property
    def existing(self) -> tuple[Document, ...]:
        """Return all that may be looked at while objects are judged."""
        return (*self.looked_up, *self.also_looked_up)

    @property
    def beside(self) -> tuple[Document, ...]:
        """Return all that judges nobody."""
        return (*self.looked_up, *self.admitted)

    @property
    def given(self) -> tuple[list[Document], ...]:
        """Return all but what is to be admitted."""
        changing = (self.mutating_policies, self.mutating_bindings)
        return self.policies, self.bindings, *changing, self.looked_up, self.old


@dataclass(frozen=True, slots=True)
class Parts:
    """Holds what the user said about the parts of kinds: `--lookup` and `--admit`, in lower
    case."""

    lookup: frozenset[str] = frozenset()
    admit: frozenset[str] = frozenset()

    @staticmethod
    def of(lookup: Iterable[str], admit: Iterable[str]) -> Parts:
        """From the options, where several kinds may stand behind one another with commas."""
        return Parts(_kinds(lookup), _kinds(admit))


def _kinds(options: Iterable[str]) -> frozenset[str]:
    return frozenset(
        kind.strip().lower() for option in options for kind in option.split(",") if kind.strip()
    )


def gather(
    cluster: Sequence[str],
    resources: Sequence[str],
    old: Sequence[str],
    parts: Parts,
    step: Callable[[int], None],
    exclusion: Exclusion = NOTHING_EXCLUDED,
    *,
    takes_others: bool = True,
) -> Manifests:
    """Read everything but what is excluded. Files of folders that are no manifests are passed over
    if it `takes_others`. `step` is told how many documents there are so far. Keys that occur twice
    are for an API server to complain about, in what is to be admitted."""
    manifests = Manifests()
    reader = DocumentReader(keeps_repeated=True)
    count = itertools.count(1)

    def documents(arguments: Sequence[str]) -> Iterator[Document]:
        named = arguments if takes_others else None
        for document in _read(expand_paths(arguments, exclusion), named, reader, manifests):
            step(next(count))
            yield document

    alone = not resources
    for document in documents(cluster):
        _sort(manifests, document, parts, is_resource=False, alone=alone)
    params = _param_kinds((*manifests.policies, *manifests.mutating_policies))
    if alone:
        _move_params(manifests, params, parts)
    for document in documents(resources):
        _sort(manifests, document, parts, is_resource=True, alone=False)
    manifests.old = [document for document in documents(old) if _part(document) is None]
    return _sorted(manifests)


def described(
    documents: Iterable[Document], admitted: Iterable[Document] = (), old: Iterable[Document] = ()
) -> Manifests:
    """Return the manifests that describe a cluster, what is to be admitted there, and what that
    replaces."""
    manifests = Manifests()
    for document in documents:
        _sort(manifests, document, Parts(), is_resource=False, alone=False)
    for document in admitted:
        _sort(manifests, document, Parts(), is_resource=True, alone=False)
    manifests.old += old
    return _sorted(manifests)


def _sorted(manifests: Manifests) -> Manifests:
    """Return the manifests with what can be said once every document has its part."""
    params = _param_kinds((*manifests.policies, *manifests.mutating_policies))
    manifests.also_looked_up += manifests.admitted.of_kinds(_looked_up_kinds(params))
    for part in manifests.given:
        _refuse_repeated(part, manifests.problems)
    return manifests


def _refuse_repeated(documents: list[Document], problems: list[Problem]) -> None:
    """Refuse what stands several times and is sent to no server: it must be unambiguous."""
    wrong = [document for document in documents if document.repeated]
    if wrong:
        documents[:] = [document for document in documents if not document.repeated]
    for document in wrong:
        first = document.repeated[0]
        line = document.chunk.first_line + first.line - 1
        problems.append(Problem(document.file, line, first.complaint))


def _read(
    files: Iterable[str | Problem],
    named: Sequence[str] | None,
    reader: DocumentReader,
    manifests: Manifests,
) -> Iterator[Document]:
    """`named` are the files that are manifests for certain; None: all are."""
    for file in files:
        text = file if isinstance(file, Problem) else read_text(file)
        if isinstance(text, Problem):
            manifests.problems.append(text)
            continue
        if named is not None and (other := passed_over(text, named)):
            manifests.others.append(other_file(text.file, other))
            continue
        for item in reader.read(text):
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                manifests.problems.append(problem)
            elif isinstance(item, Document):
                yield item


def group_of(document: Document) -> str:
    """Return the API group; empty for the core group."""
    return document.group_kind[0]


def _part(document: Document) -> str | None:
    """Return the kind of what judges or changes others, None for all others."""
    kind = str(document.value["kind"])
    if kind in _JUDGES and group_of(document) == ADMISSION_REGISTRATION:
        return kind
    return None


def _sort(
    manifests: Manifests, document: Document, parts: Parts, *, is_resource: bool, alone: bool
) -> None:
    judges = {
        registration.POLICY_KIND: manifests.policies,
        registration.BINDING_KIND: manifests.bindings,
        registration.MUTATING_POLICY_KIND: manifests.mutating_policies,
        registration.MUTATING_BINDING_KIND: manifests.mutating_bindings,
    }
    part = _part(document)
    kind = str(document.value["kind"])
    if part is not None and not (is_resource and kind.lower() in parts.admit):
        judges[part].append(document)
        return
    admitted = is_resource or (alone and not _usually_looked_up(document))
    if kind.lower() in parts.lookup:
        admitted = False
    elif kind.lower() in parts.admit:
        admitted = True
    (manifests.admitted if admitted else manifests.looked_up).append(document)


def _usually_looked_up(document: Document) -> bool:
    kind, group = str(document.value["kind"]), group_of(document)
    if kind in _LOOKED_UP or group == RBAC_GROUP:
        return True
    return group == ADMISSION_REGISTRATION


def _param_kinds(policies: Iterable[Document]) -> set[tuple[str, str]]:
    kinds = set()
    for policy in policies:
        spec = policy.value.get("spec")
        kind: object = spec.get("paramKind") if isinstance(spec, dict) else None
        if isinstance(kind, dict):
            kinds.add((str(kind.get("apiVersion")), str(kind.get("kind"))))
    return kinds


def _move_params(manifests: Manifests, params: set[tuple[str, str]], parts: Parts) -> None:
    """Take objects of a param kind for params, where nothing was said to be a RESOURCE."""

    def is_param(document: Document) -> bool:
        kind = str(document.value["kind"])
        named = (str(document.value["apiVersion"]), kind)
        return named in params and kind.lower() not in parts.admit

    if any(map(is_param, manifests.admitted.of_kinds(_group_kinds(params).__contains__))):
        admitted, manifests.admitted = manifests.admitted, DocumentArchive()
        for document in admitted:
            if is_param(document):
                manifests.looked_up.append(document)
            else:
                manifests.admitted.append(document)


def _group_kinds(params: Iterable[tuple[str, str]]) -> set[Kind]:
    return {(version.rpartition("/")[0], kind) for version, kind in params}


def _looked_up_kinds(params: Iterable[tuple[str, str]]) -> Callable[[Kind], bool]:
    """Return whether somebody may look at objects of a kind that are themselves to be admitted:
    policies, plugins, or those who call webhooks."""
    kinds = {
        *_group_kinds(params),
        *(
            known_resource.gvk.group_kind
            for known_resource in known_resources(all_versions=True)
            if known_resource.gvr in LOOKED_UP
        ),
        ("", "ResourceQuota"),
        ("", "Service"),
    }

    def expected(kind: Kind) -> bool:
        return (
            kind in kinds
            or kind[0] in {RBAC_GROUP, ADMISSION_REGISTRATION}
            or kind[1] in _LOOKED_UP
        )

    return expected


def unknown_kind(parts: Parts, manifests: Manifests) -> str:
    """Return what is wrong with the first kind of `--lookup` and `--admit` that neither a server
    nor the documents know; empty if all are good."""
    kinds = {
        known_resource.gvk.kind.lower() for known_resource in known_resources(all_versions=True)
    }
    kinds.update(kind.lower() for _, kind in manifests.admitted.kinds)
    for document in (*manifests.existing, *manifests.old):
        kinds.add(str(document.value["kind"]).lower())
        kinds.add(_defined_kind(document))
    for kind in sorted(parts.lookup | parts.admit):
        if kind not in kinds:
            return f"no kind `{kind}`{did_you_mean(kind, kinds)}"
    return ""


def _defined_kind(document: Document) -> str:
    """Return the kind that a CustomResourceDefinition defines, in lower case; else empty."""
    spec = document.value.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    return str(names.get("kind")).lower() if isinstance(names, dict) else ""


# --- Webhooks ----------------------------------------------------------------
#
# Webhook configurations among the given documents: decoded and validated as the API server would
# on writing them, and as sets of hooks that know whom they concern.
#
# One that the API server would not accept becomes a `PolicyError`; the others take part.

KINDS: Final = {"MutatingWebhookConfiguration": True, "ValidatingWebhookConfiguration": False}
"""Whether the webhooks of a kind are mutating ones."""

Configurations = dict[str, Placed[registration.WebhookConfiguration]]


@dataclass(slots=True)
class WebhookDocuments:
    """The configurations of both kinds, by name, and what was meant to be one but is not."""

    mutating: Configurations = field(default_factory=dict)
    validating: Configurations = field(default_factory=dict)
    errors: list[PolicyError] = field(default_factory=list)

    def of(self, *, mutating: bool) -> Configurations:
        """Return the configurations of one kind."""
        return self.mutating if mutating else self.validating

    def hooks(self, version: str, *, mutating: bool) -> HookSet:
        """Return the webhooks of one kind, whose conditions are in the CEL of a release."""
        from celadon.admission.webhooks import HookSet

        configurations = [placed.value for placed in self.of(mutating=mutating).values()]
        return HookSet(
            [configuration for configuration in configurations if not is_static(configuration)],
            version,
            static=[configuration for configuration in configurations if is_static(configuration)],
        )

    def place(self, hook: Hook, *, mutating: bool) -> Place:
        """Return where a webhook is written."""
        configuration = self.of(mutating=mutating)[hook.configuration]
        index = configuration.value.webhooks.index(hook.webhook)
        return configuration.place(FieldPath("webhooks", index))

    @property
    def names(self) -> frozenset[str]:
        """The names of all webhooks."""
        placed_webhooks = (*self.mutating.values(), *self.validating.values())
        return frozenset(hook.name for placed in placed_webhooks for hook in placed.value.webhooks)

    @property
    def count(self) -> int:
        """Return how many webhooks there are."""
        placed_webhooks = (*self.mutating.values(), *self.validating.values())
        return sum(len(placed.value.webhooks) for placed in placed_webhooks)


def is_configuration(document: Document) -> bool:
    """Return whether a document is one of webhooks."""
    return document.value["kind"] in KINDS and group_of(document) == ADMISSION_REGISTRATION


def webhook_documents(documents: Iterable[Document], version: str) -> WebhookDocuments:
    """Return the configurations of webhooks among the documents. The later of two with one name
    replaces the earlier."""
    webhooks = WebhookDocuments()
    for document in documents:
        if not is_configuration(document):
            continue
        mutating = KINDS[document.value["kind"]]
        placed = accepted(
            document, _decoding(mutating=mutating), _complaints(version), webhooks.errors
        )
        if placed is not None and not _static_errors(placed, webhooks.errors):
            webhooks.of(mutating=mutating)[placed.value.name] = placed
    return webhooks


def _static_errors(
    placed: Placed[registration.WebhookConfiguration], errors: list[PolicyError]
) -> bool:
    """Return whether there are any: what keeps a server from loading it from its files."""
    wrong = (
        list(static_errors([placed.value], placed.document.file)) if is_static(placed.value) else []
    )
    errors += [document_error(placed.document, error.path, error.text) for error in wrong]
    return bool(wrong)


def _decoding(
    *, mutating: bool
) -> Callable[[object, str], registration.Decoded[registration.WebhookConfiguration]]:
    def decode(
        document: object, version: str
    ) -> registration.Decoded[registration.WebhookConfiguration]:
        return registration.decode_webhooks(document, mutating=mutating, version=version)

    return decode


def _complaints(version: str) -> Callable[[registration.WebhookConfiguration], list[FieldError]]:
    def complaints(configuration: registration.WebhookConfiguration) -> list[FieldError]:
        return registration.validate_create(configuration, version)

    return complaints


# --- Said --------------------------------------------------------------------
#
# What mutating policies and webhooks have said of a request, where somebody was there to speak.


@dataclass(slots=True)
class WebhookOutcome:
    """Holds what the webhooks of one type have made of a request; `refusal` is what its client
    would be told. Warnings are as they came."""

    calls: list[WebhookCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    refusal: StatusError | None = None
    mutation: ObjectMutation | None = None
    """What mutating policies have made of the object, if there are any for it."""
