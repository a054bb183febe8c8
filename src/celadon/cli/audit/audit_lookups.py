"""What is looked up while objects are audited: params, roles, definitions of custom resources,
namespaces, and what plugins read (classes, accounts, LimitRanges), from the source itself and from
what was given with the policies.

A source is gone through once for them, before anything is judged. Only texts in which a wanted kind
is mentioned are read, and of params only those that some binding may mean, so that a cluster full
of ConfigMaps is not kept in memory for the one that is a param.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from celadon.admission.registration import Policy
from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli.audit.audit_blocks import AnyPiece, Block
from celadon.cli.check.cluster import Circumstances
from celadon.cli.check.notices import Sightings
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.check.policy_set import PolicySet, PolicySets
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.kube import GroupKind, Json, JsonObject, User, metadata
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.registry import request_options
from celadon.kube.resources import Catalog, Resource, known_resources
from celadon.kube.selectors import LabelSelector, SelectorError, label_selector
from celadon.kube.well_known_values import NODES, RBAC_GROUP
from celadon.records import dataclass
from celadon.webhook.cluster import (
    ENDLESS_LIST,
    IDLE_PAGES,
    ClusterClient,
    ClusterError,
    ClusterRefusal,
    ClusterUnreachable,
    Page,
)

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
        """Return whether it is one of them."""
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
        """Return whether an object has to be kept."""
        kind = metadata.gvk(value).group_kind
        if kind in self.kinds:
            return True
        refs = self.params.get(kind)
        return refs is not None and refs.covers(value)

    def may_be(self, piece: AnyPiece) -> bool:
        """Return whether a piece is worth reading."""
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
    """Return what these policies may look up."""
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
    """Return how manifests become what a server would have stored: whatever else is odd about them
    is not asked about. `existing` are the definitions among other things."""
    circumstances = Circumstances(
        version, now, user, defaulting=defaulting, field_validation=request_options.IGNORE
    )
    return circumstances.preparation(existing)


def given_objects(
    documents: Iterable[Document], prepare: Prepare
) -> tuple[list[dict[str, Json]], list[Problem]]:
    """Objects that may be looked up, and what is wrong with others. One that a server has written
    is as it is."""
    objects: list[dict[str, Json]] = []
    problems: list[Problem] = []
    for document in documents:
        value: dict[str, Json] | Problem = document.value
        if not metadata.uid(document.value):
            value = prepare.existing(document)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            objects.append(value)
    return objects, problems


# --- Cluster objects ---------------------------------------------------------
#
# Objects of a cluster, page by page, by nothing but GETs.
#
# A list is of one revision as long as the server remembers it. Where it does not any more
# (410), the list goes on with the newest objects behind the last one that was seen, so nothing
# is seen twice and nothing that stays is missed. What fails for a moment is asked for again.


PAGE: Final = 500
PAUSES: Final = (1.0, 4.0, 10.0)
"""Seconds before each further attempt."""
PATIENCE: Final = 10
"""How often a server is obeyed that says when to ask again (`Retry-After`): as client-go."""
LONGEST_PAUSE: Final = 60.0
"""Seconds that it is obeyed for; somebody is waiting."""
_GONE: Final = 410
_FOR_NOW: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Mark:
    """This is how far a list has been read: the server's token for what is left, empty at the end,
    and the last object that was seen."""

    more: str = ""
    last: str = ""


START: Final = Mark()


def path_of(resource: Resource) -> str:
    """Return where all objects of a resource are listed."""
    group, version, name = resource.gvr
    return f"/apis/{group}/{version}/{name}" if group else f"/api/{version}/{name}"


def listed_resources(catalog: Catalog) -> Iterator[Resource]:
    """Each that can be listed, in one version and one group."""
    taken: set[tuple[str, str]] = set()
    for resource in catalog:
        group, _, name = resource.gvr
        others = {(one.group, one.resource) for one, _ in catalog.equivalents(resource.gvr)}
        if "list" in resource.verbs and not taken.intersection({(group, name), *others}):
            taken.add((group, name))
            yield resource


async def counted(client: ClusterClient, resource: Resource) -> int:
    """About how many objects there are; 0 if the server does not say."""
    try:
        page = await client.page(path_of(resource), {"limit": "1"})
    except ClusterError:
        return 0
    return len(page.items) + page.remaining


async def pages(
    client: ClusterClient, resource: Resource, mark: Mark = START
) -> AsyncIterator[tuple[Sequence[dict[str, Any]], Mark]]:
    """The objects of a resource that come behind a mark, each page with the next one. Raises
    ClusterError."""
    path = path_of(resource)
    more, last = mark.more, mark.last
    read = idle = 0
    most_idle = IDLE_PAGES
    while True:
        query = {"limit": str(PAGE)}
        if more:
            query["continue"] = more
        try:
            page = await _asked(client, path, query)
        except ClusterRefusal as refusal:
            if refusal.code != _GONE or not more:
                raise
            # From its beginning, if a server does not say.
            more = (refusal.status.get("metadata") or {}).get("continue") or ""
            most_idle = IDLE_PAGES + read
            continue
        fresh = [one for one in page.items if _key(one) > last]
        last = max([last, *map(_key, page.items)])
        more = page.more
        yield fresh, Mark(more, last)
        if not more:
            return
        read, idle = read + 1, 0 if fresh else idle + 1
        if idle > most_idle:
            raise ClusterUnreachable(f"GET {path}: {ENDLESS_LIST}")


def _key(value: JsonObject) -> str:
    """Return the key by which a server sorts the objects of a resource."""
    namespace, name = metadata.namespace(value), metadata.name(value)
    return f"{namespace}/{name}" if namespace else name


async def _asked(client: ClusterClient, path: str, query: Mapping[str, str]) -> Page:
    pauses, asked_to_wait = iter(PAUSES), 0
    while True:
        try:
            return await client.page(path, query)
        except ClusterUnreachable:
            pause = next(pauses, None)
            if pause is None:
                raise
        except ClusterRefusal as refusal:
            if refusal.code not in _FOR_NOW:
                raise
            asked_to_wait += refusal.retry_after > 0
            if refusal.retry_after and asked_to_wait <= PATIENCE:
                pause = min(float(refusal.retry_after), LONGEST_PAUSE)
            elif (pause := next(pauses, None)) is None:
                raise
        await asyncio.sleep(pause)


# --- Cluster copies ----------------------------------------------------------
#
# What several releases judge is listed once.


_Key = tuple[str, ...]


class ClusterCopy:
    """Pages as a cluster has answered them, in a file without a name: it goes with the process, and
    only the process can read it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed on leaving
        self._places: dict[_Key, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def found(self, key: _Key) -> Page | None:
        """Return the page that was kept for a request."""
        if key not in self._places:
            return None
        start, size = self._places[key]
        self._file.seek(start)
        kept = json.loads(self._file.read(size))
        return Page(kept["items"], kept["more"], kept["revision"], kept["remaining"], kept["size"])

    def keep(self, key: _Key, page: Page) -> None:
        """Keep the page for the next who asks."""
        kept = {
            "items": page.items,
            "more": page.more,
            "revision": page.revision,
            "remaining": page.remaining,
            "size": page.size,
        }
        start = self._file.seek(0, 2)
        self._places[key] = start, self._file.write(json.dumps(kept).encode())


class CopyingClient(ClusterClient):
    """Asks the cluster for each page once, and has the others from the copy. What cannot be read is
    asked for again."""

    def __init__(self, location: ClusterLocation, copy: ClusterCopy) -> None:
        super().__init__(location)
        self._copy = copy

    async def page(self, path: str, query: Mapping[str, str]) -> Page:
        """A list, or a page of it, as it was at first. Raises ClusterError."""
        key = path, *(f"{name}={value}" for name, value in sorted(query.items()))
        page = self._copy.found(key)
        if page is None:
            page = await super().page(path, query)
            self._copy.keep(key, page)
        return page
