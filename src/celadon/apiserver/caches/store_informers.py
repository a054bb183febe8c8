"""The entries under a prefix, kept current by a watch that is read when somebody asks.

Asking costs one look at the store's revision when nothing has changed. A view that computes
something from a mirror does so again when `refresh` says that there is something new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from celadon.admission.plugins import config_map_names, secret_names
from celadon.apiserver.object_store import ObjectStore, StoredObject, Undecodable, collection_prefix
from celadon.apiserver.workers import Lagging, on_loop
from celadon.kube import Answer, Attributes, GroupVersionResource, JsonObject, metadata
from celadon.kube.rbac import RbacAuthorizer, RoleIndex
from celadon.kube.resources import Resource, known_resources
from celadon.kube.well_known_values import MIRROR_POD, RBAC_GROUP, VOLUME_CLAIMS
from celadon.storage import Compacted, Watch, WatchLost, WatchOverflow

News = Sequence[tuple[StoredObject | None, StoredObject | None]]
"""What there was, and what there is, of each that has changed."""

_NEVER: Final = -1
"""Seen, until all has been taken in."""


class Mirror:
    """Stored objects by key, in the order of their keys when listed."""

    _revision: int
    """The revision of the last look."""
    _watch: Watch

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix
        self._stored: dict[str, StoredObject] = {}
        self.news: News | None = None
        """What the last change was that `refresh` has told of; None if all has been read anew."""
        self._revision: int
        self._watch: Watch
        self._reload()

    def refresh(self) -> bool:
        """Take in what has happened; whether anything has. Raises Undecodable as long as there is
        such an entry: what is computed without it might allow more."""
        revision = self._objects.store.revision()
        if revision == self._revision:
            return False
        if self._revision == _NEVER:
            self._reload()
            return True
        self._revision = revision
        if not self._watch.is_waiting():
            return False
        try:
            events = {event.key: event.entry for event in self._watch.take().events}
            news = []
            for key, entry in events.items():  # the last of each; those before are not decoded
                before = self._stored.pop(key, None)
                after = None if entry is None else self._objects.stored(entry)
                if after is not None:
                    self._stored[key] = after
                news.append((before, after))
            self.news = news
        except (Compacted, WatchLost, WatchOverflow, Undecodable):
            self._reload()
            return True
        return bool(events)

    def get(self, key: str) -> StoredObject | None:
        """Return the object under the whole key, as of the last refresh."""
        return self._stored.get(key)

    def __iter__(self) -> Iterator[StoredObject]:
        return (self._stored[key] for key in sorted(self._stored))

    def __len__(self) -> int:
        return len(self._stored)

    def _reload(self) -> None:
        self._revision, self.news = _NEVER, None
        page = self._objects.store.range(self._prefix)
        self._stored = {entry.key: self._objects.stored(entry) for entry in page.entries}
        self._watch = self._objects.store.watch(self._prefix, page.revision)
        self._revision = page.revision


class ChangeCount:
    """Counts how often somebody has found that something under a prefix had changed: views of many
    parts need not look at each as long as the number is the same."""

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix
        self._number = 0
        self._revision = objects.store.revision()
        self._watch = objects.store.watch(prefix, self._revision)

    def number(self) -> int:
        """Return another number than before if anything has changed since then."""
        store = self._objects.store
        revision = store.revision()
        if revision == self._revision:
            return self._number
        self._revision = revision
        if self._watch.is_waiting():
            self._number += 1
            try:
                self._watch.take()
            except (Compacted, WatchLost, WatchOverflow):
                self._watch = store.watch(self._prefix, revision)
        return self._number


# --- Role view ---------------------------------------------------------------
#
# The roles and bindings in the store, as an authorizer that is ready to answer.

RESOURCES: Final = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")

_MANY: Final = 500
"""Rules and subjects that are looked at on the event loop."""


class RoleView:
    """With `aggregating`, aggregated roles have the rules that their controller gives them, at
    once; else those that are stored. What changes thousands of rules or subjects is seen a moment
    later."""

    def __init__(self, objects: ObjectStore, *, aggregating: bool = True) -> None:
        self._aggregating = aggregating
        catalog = known_resources()
        self._mirrors = []
        for name in RESOURCES:
            resource = catalog.by_gvr(GroupVersionResource(RBAC_GROUP, "v1", name))
            assert resource is not None, f"no {name}"
            self._mirrors.append(Mirror(objects, collection_prefix(resource)))
        self._lagging = Lagging(self._with_all(self._objects()))
        self._has_missed = False
        """Whether something has changed that could not be taken in."""

    @on_loop
    def current(self) -> RbacAuthorizer:
        """Return the authorizer that knows what is stored now."""
        try:
            changed = [mirror for mirror in self._mirrors if mirror.refresh()]
        except Undecodable:
            self._has_missed = True
            raise
        if changed:
            self._change([mirror.news for mirror in changed])
        return self._lagging.value

    def _change(self, news: Sequence[News | None]) -> None:
        batches = [item for item in news if item is not None]
        if self._has_missed or len(batches) < len(news):
            self._has_missed, objects = False, self._objects()
            self._lagging.change(lambda _: self._with_all(objects), is_long=_are_many(objects))
            return
        put, removed = _put_and_removed([item for batch in batches for item in batch])
        self._lagging.change(
            lambda former: RbacAuthorizer(former.index.changed(put, removed)),
            is_long=_are_many((*put, *removed)),
        )

    @on_loop
    def authorize(self, attributes: Attributes) -> Answer:
        """Decide as `RbacAuthorizer.authorize` does, by what is stored now."""
        return self.current().authorize(attributes)

    @property
    def is_settled(self) -> bool:
        """Return whether all that `current` has seen is in force."""
        return self._lagging.is_settled

    async def settled(self) -> None:
        """Wait until all that `current` has seen is in force."""
        await self._lagging.settled()

    def _objects(self) -> list[JsonObject]:
        return [item.object for mirror in self._mirrors for item in mirror]

    def _with_all(self, objects: Iterable[JsonObject]) -> RbacAuthorizer:
        return RbacAuthorizer(RoleIndex(objects, aggregating=self._aggregating))


def _put_and_removed(news: News) -> tuple[list[JsonObject], list[JsonObject]]:
    put, removed = [], []
    for before, after in news:
        if after is not None:
            put.append(after.object)
        elif before is not None:
            removed.append(before.object)
    return put, removed


def _are_many(objects: Iterable[JsonObject]) -> bool:
    """Return whether so much is in roles and bindings that looking at it takes long."""
    members = ((item.get("rules") or (), item.get("subjects") or ()) for item in objects)
    return sum(len(rules) + len(subjects) for rules, subjects in members) > _MANY


# --- What belongs to nodes ---------------------------------------------------
#
# Which objects the pods on a node need: the graph of k8s.io/kubernetes
# `plugin/pkg/auth/authorizer/node`, without its edges. It ends at a node, or at the claim of a
# volume, whose pods are then asked for.

Related: TypeAlias = tuple[str, str, str]
"""Resource, namespace and name."""

_ABOUT_NODES: Final = (
    ("", "pods"),
    ("", "persistentvolumes"),
    ("storage.k8s.io", "volumeattachments"),
    ("resource.k8s.io", "resourceslices"),
    ("certificates.k8s.io", "podcertificaterequests"),
)
CLAIMS: Final = VOLUME_CLAIMS.resource
_SECRETS_OF_VOLUMES: Final = (
    *((kind, "secretRef") for kind in ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO")),
    *((kind, "secretRef") for kind in ("iscsi", "storageos")),
    *(("csi", f"node{step}SecretRef") for step in ("Publish", "Stage", "Expand")),
)
"""References that kubelets follow; those of controllers are not theirs."""
_IN_CLAIMS_NAMESPACE: Final = frozenset({"cephfs", "flexVolume", "rbd", "scaleIO", "iscsi"})


_NOTHING_NEEDED: Final = "", frozenset[Related]()


class NodeIndex:
    """Objects by what leads to them. While one is replaced, what it led to before and leads to now
    is found all the time, for a thread may do that."""

    def __init__(self, objects: Iterable[JsonObject] = ()) -> None:
        self._nodes: dict[Related, Counter[str]] = {}
        """How often objects are needed on which nodes."""
        self._needs: dict[Related, tuple[str, frozenset[Related]]] = {}
        """By pod and the like: its node, and what is needed there because of it."""
        self._states: dict[Related, object] = {}
        """By pod and the like: what tells that it is the same as before."""
        self._claims: dict[Related, Related] = {}
        """By volume."""
        self._secrets: dict[Related, frozenset[Related]] = {}
        """By volume."""
        self._volumes: dict[Related, set[Related]] = {}
        """By secret: the volumes that name it."""
        for obj in objects:
            self.put(obj)

    def has(self, node: str, related: Related) -> bool:
        """Return whether an object is needed on a node."""
        if node in self._nodes.get(related, ()):
            return True
        volumes = (related, *self._volumes.get(related, ()))
        claims = (self._claims.get(volume, related) for volume in volumes)
        return any(node in self._nodes.get(claim, ()) for claim in claims)

    def put(self, obj: JsonObject) -> None:
        """Add an object or replace the one of its name. Of a pod that stays on its node only the
        resource claims may change, as upstream looks at nothing else again."""
        key, spec = _related(obj), obj.get("spec") or {}
        if obj.get("kind") == "PersistentVolume":
            self._put_volume(key, spec.get("claimRef"), spec)
            return
        # The alpha of ResourceSlices had it beside the spec.
        node = spec.get("nodeName") or obj.get("nodeName") or ""
        claims = frozenset(_claims(obj))
        state = metadata.uid(obj), node, claims
        if self._states.get(key) != state:
            self._states[key] = state
            needed = (key, *claims, *_needed(obj)) if node else ()
            self._need(key, node, frozenset(needed))

    def _put_volume(self, key: Related, claim: JsonObject | None, spec: JsonObject) -> None:
        if claim is None:
            self._remove_volume(key)
            return
        namespace = claim.get("namespace") or ""
        self._claims[key] = CLAIMS, namespace, claim.get("name") or ""
        self._name_secrets(key, frozenset(_volume_secrets(spec, namespace)))

    def remove(self, obj: JsonObject) -> None:
        """Remove an object; only its kind, namespace and name matter."""
        key = _related(obj)
        self._remove_volume(key)
        self._states.pop(key, None)
        self._need(key, *_NOTHING_NEEDED)

    def _remove_volume(self, key: Related) -> None:
        self._claims.pop(key, None)
        self._name_secrets(key, frozenset())

    def _name_secrets(self, volume: Related, secrets: frozenset[Related]) -> None:
        former = self._secrets.pop(volume, frozenset())
        if secrets:
            self._secrets[volume] = secrets
        for secret in secrets - former:
            self._volumes.setdefault(secret, set()).add(volume)
        for secret in former - secrets:
            self._volumes[secret].discard(volume)
            if not self._volumes[secret]:
                del self._volumes[secret]

    def _need(self, key: Related, node: str, needed: frozenset[Related]) -> None:
        former_node, former = self._needs.pop(key, _NOTHING_NEEDED)
        if needed:
            self._needs[key] = node, needed
        for related in needed:
            self._nodes.setdefault(related, Counter())[node] += 1
        for related in former:
            nodes = self._nodes[related]
            nodes[former_node] -= 1
            if not nodes[former_node]:
                del nodes[former_node]
            if not nodes:
                del self._nodes[related]


def _related(obj: JsonObject) -> Related:
    return f"{str(obj.get('kind')).lower()}s", metadata.namespace(obj), metadata.name(obj)


def _needed(obj: JsonObject) -> Iterator[Related]:
    """Yield what a pod names, but for resource claims. A mirror pod, which its node has made, leads
    to nothing: else nodes could read whatever they like."""
    if obj.get("kind") != "Pod" or MIRROR_POD in metadata.annotations(obj):
        return
    spec, namespace = obj.get("spec") or {}, metadata.namespace(obj)
    if spec.get("serviceAccountName"):
        yield "serviceaccounts", namespace, spec["serviceAccountName"]
    for name in secret_names(spec):
        yield "secrets", namespace, name
    for name in config_map_names(spec):
        yield "configmaps", namespace, name
    for volume in spec.get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName") or ""
        if volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is not None:
            name = f"{metadata.name(obj)}-{volume.get('name', '')}"
        if name:
            yield CLAIMS, namespace, name


def _claims(obj: JsonObject) -> Iterator[Related]:
    """Yield the resource claims of a pod: those that it names, and those made for it."""
    if obj.get("kind") != "Pod" or MIRROR_POD in metadata.annotations(obj):
        return
    status = obj.get("status") or {}
    made = {
        item.get("name"): item.get("resourceClaimName")
        for item in status.get("resourceClaimStatuses") or ()
    }
    names = [
        claim.get("resourceClaimName") or made.get(claim.get("name"))
        for claim in (obj.get("spec") or {}).get("resourceClaims") or ()
    ]
    names.append((status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"))
    yield from (("resourceclaims", metadata.namespace(obj), name) for name in names if name)


def _volume_secrets(spec: JsonObject, namespace: str) -> Iterator[Related]:
    """Yield the secrets that kubelets need for a volume; `namespace` is that of its claim."""
    file = spec.get("azureFile") or {}
    if file.get("secretName"):
        yield "secrets", file.get("secretNamespace") or namespace, file["secretName"]
    for kind, field in _SECRETS_OF_VOLUMES:
        reference = (spec.get(kind) or {}).get(field) or {}
        own = namespace if kind in _IN_CLAIMS_NAMESPACE else ""
        if reference.get("name"):
            yield "secrets", reference.get("namespace") or own, reference["name"]


class NodeView:
    """Knows what is stored now of what belongs to nodes. When all has to be read anew, that is seen
    a moment later."""

    def __init__(self, objects: ObjectStore) -> None:
        self._mirrors = [
            Mirror(objects, collection_prefix(resource)) for resource in _about_nodes()
        ]
        self._lagging = Lagging(NodeIndex(self._objects()))

    @on_loop
    def has(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Return whether an object is needed on a node."""
        changed = [mirror.news for mirror in self._mirrors if mirror.refresh()]
        if None in changed:
            objects = self._objects()
            self._lagging.change(lambda _: NodeIndex(objects), is_long=True)
        elif changed:
            news = [item for batch in changed for item in batch or ()]
            self._lagging.change(lambda index: _with_news(index, news), is_long=len(news) > _MANY)
        return self._lagging.value.has(node, (resource, namespace, name))

    def _objects(self) -> list[JsonObject]:
        return [item.object for mirror in self._mirrors for item in mirror]


def _about_nodes() -> Iterator[Resource]:
    seen = set()
    for resource in known_resources():
        key = resource.gvr.group, resource.gvr.resource
        if key in _ABOUT_NODES and key not in seen:
            seen.add(key)
            yield resource


def _with_news(index: NodeIndex, news: News) -> NodeIndex:
    for before, after in news:
        if after is not None:
            index.put(after.object)
        elif before is not None:
            index.remove(before.object)
    return index
