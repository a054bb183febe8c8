"""What is looked up while objects are audited: params, roles, definitions of custom resources,
namespaces, and what plugins read (classes, accounts, LimitRanges), from the source itself and from
what was given with the policies.

A source is gone through once for them, before anything is judged. Only texts in which a wanted kind
is mentioned are read, and of params only those that some binding may mean, so that a cluster full
of ConfigMaps is not kept in memory for the one that is a param.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from celadon.admission.registration import Policy
from celadon.cli.auditing.audit_blocks import AnyPiece, Block
from celadon.cli.checking.given_cluster import Circumstances
from celadon.cli.checking.notices import Sightings
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import PolicySet, PolicySets
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.kube import GroupKind, JsonObject, User, metadata
from celadon.kube.catalogue import known_resources
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.registry import request_options
from celadon.kube.selection import LabelSelector, SelectorError, label_selector
from celadon.kube.well_known_values import NODES, RBAC_GROUP
from celadon.records import dataclass

_NAMESPACE: Final = GroupKind("", "Namespace")
_ROLES: Final = tuple(
    GroupKind(RBAC_GROUP, kind)
    for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
)


@dataclass(frozen=True, slots=True)
class _ParamRefs:
    """The params of one kind that bindings may mean. A selector of None takes all."""

    names: frozenset[str]
    selectors: tuple[LabelSelector | None, ...]

    def covers(self, value: JsonObject) -> bool:
        """Whether it is one of them."""
        if metadata.name(value) in self.names:
            return True
        labels = metadata.labels(value)
        return any(one is None or one.matches(labels) for one in self.selectors)


@dataclass(frozen=True, slots=True)
class Lookups:
    """The kinds of objects that somebody may look up."""

    kinds: frozenset[GroupKind]
    params: dict[GroupKind, _ParamRefs]
    namespaces: bool
    """Whether policies look at namespaces."""

    def wants(self, value: JsonObject) -> bool:
        """Whether an object has to be kept."""
        kind = metadata.gvk(value).group_kind
        if kind in self.kinds:
            return True
        refs = self.params.get(kind)
        return refs is not None and refs.covers(value)

    def may_be(self, piece: AnyPiece) -> bool:
        """Whether a piece is worth reading."""
        head = piece.head()
        if head is None:
            return not piece.text or any(word in piece.text for word in self.words)
        kind = GroupKind(head.api_version.rpartition("/")[0], head.kind)
        return kind in self.kinds or kind in self.params or head.kind.endswith("List")

    @property
    def words(self) -> tuple[bytes, ...]:
        """Texts without any of these have nothing that is wanted."""
        return tuple(sorted({kind.kind.encode() for kind in (*self.kinds, *self.params)}))


def lookups_of(sets: PolicySets) -> Lookups:
    """What these policies may look up."""
    namespaces = Sightings.wanted(sets).wants_namespaces
    kinds = {GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"), _NAMESPACE}
    kinds.update(one.gvk.group_kind for one in known_resources() if one.gvr in LOOKED_UP - {NODES})
    if any(_asks_authorizer(one.value) for one in sets.validating.policies.values()):
        kinds.update(_ROLES)
    return Lookups(frozenset(kinds), _params(sets.validating), namespaces)


def _asks_authorizer(policy: Policy) -> bool:
    return "authorizer" in repr(policy.spec)


def _params(policies: PolicySet) -> dict[GroupKind, _ParamRefs]:
    names: dict[GroupKind, set[str]] = {}
    selectors: dict[GroupKind, list[LabelSelector | None]] = {}
    for placed in policies.bindings.values():
        policy = policies.policies.get(placed.value.spec.policy_name)
        wanted = policy.value.spec.param_kind if policy is not None else None
        ref = placed.value.spec.param_ref
        if wanted is None or ref is None:
            continue
        group, slash, _ = wanted.api_version.rpartition("/")
        kind = GroupKind(group if slash else "", wanted.kind)
        names.setdefault(kind, set())
        selectors.setdefault(kind, [])
        if ref.name:
            names[kind].add(ref.name)
        else:
            selectors[kind].append(_compiled(ref.selector))
    return {kind: _ParamRefs(frozenset(names[kind]), tuple(selectors[kind])) for kind in names}


def _compiled(selector: Any) -> LabelSelector | None:  # noqa: ANN401 - JSON
    try:
        return label_selector(selector or {})
    except SelectorError:  # said when a param is looked for
        return None


def looked_up(blocks: Iterable[Block], wanted: Lookups) -> Iterator[Document | Problem]:
    """The objects of a source that are wanted; what cannot be read is said when it is judged."""
    words = wanted.words
    reader = DocumentReader()
    for block in blocks:
        if not block.mentions(words):
            continue
        for piece in block.pieces():
            if not isinstance(piece, Problem) and wanted.may_be(piece):
                for document in piece.documents(reader):
                    if isinstance(document, Document) and wanted.wants(document.value):
                        yield document


def preparation(
    existing: Iterable[Document], user: User, now: str, version: str, *, defaulting: bool = True
) -> Prepare:
    """How manifests become what a server would have stored: whatever else is odd about them is not
    asked about. `existing` are the definitions among other things."""
    circumstances = Circumstances(
        version, now, user, defaulting=defaulting, field_validation=request_options.IGNORE
    )
    return circumstances.preparation(existing)


def given_objects(
    documents: Iterable[Document], prepare: Prepare
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Objects that may be looked up, and what is wrong with others. One that a server has written
    is as it is."""
    objects: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for document in documents:
        value: dict[str, Any] | Problem = document.value
        if not metadata.uid(document.value):
            value = prepare.existing(document)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            objects.append(value)
    return objects, problems
