"""What one review may look up of the cluster: out of the caches, and by asking.

What is not known yet is asked for once (`Unanswered`), and then known for the rest of the review:
an authorizer's answer, a namespace that is in no cache, params whose cache is being filled. What
is in a cache that has not heard of the cluster for too long is not used: then the review cannot be
decided (`Unanswerable`), and the API server does what the failure policy of the webhook's
configuration says.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from celadon.admission import convert
from celadon.kube import (
    Answer,
    Attributes,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    well_known_values,
)
from celadon.kube.catalogue import Catalog
from celadon.records import dataclass
from celadon.webhook.cluster.asked_authorizer import AskedAuthorizer
from celadon.webhook.cluster.cluster_caches import NAMESPACES, ClusterCaches
from celadon.webhook.cluster.cluster_client import (
    NOT_FOUND,
    ClusterClient,
    ClusterError,
    ClusterRefusal,
)
from celadon.webhook.cluster.watched_collection import WatchedCollection
from celadon.webhook.deciding.unanswered import Unanswerable, Unanswered


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What all reviews of a time share. `max_staleness` is in seconds."""

    client: ClusterClient
    caches: ClusterCaches
    authorizer: AskedAuthorizer
    catalog: Catalog
    max_staleness: float


class ClusterWorld:
    """A `World` of one review."""

    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._namespaces: dict[str, JsonObject | None] = {}
        self._answers: dict[Hashable, Answer] = {}

    @property
    def catalog(self) -> Catalog:
        """The resources of the cluster."""
        return self._view.catalog

    def namespace(self, name: str) -> JsonObject | None:
        """One that is in no cache may be newer than the cache: the cluster is asked."""
        if name in self._namespaces:
            return self._namespaces[name]
        found = self._fresh(self._view.caches.namespaces).get("", name)
        if found is not None:
            return found

        async def find() -> None:
            try:
                self._namespaces[name] = await self._view.client.get(f"{NAMESPACES}/{name}")
            except ClusterRefusal as refusal:
                if refusal.code != NOT_FOUND:
                    raise Unanswerable(f"namespace `{name}`: {refusal}") from None
                self._namespaces[name] = None
            except ClusterError as error:
                raise Unanswerable(f"namespace `{name}`: {error}") from None

        raise Unanswered(find)

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """One object of a kind that policies have params of, or a namespace."""
        if resource == well_known_values.NAMESPACES:
            return self.namespace(name)
        return self._params(resource).get(namespace, name)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """Of a kind that policies have params of."""
        if resource == well_known_values.NAMESPACES:
            return self._fresh(self._view.caches.namespaces).list("")
        return self._params(resource).list(namespace)

    def authorize(self, attributes: Attributes) -> Answer:
        """What the cluster's authorizer says."""
        authorizer = self._view.authorizer
        found = self._answers.get(attributes.identity) or authorizer.known(attributes)
        if found is not None:
            return found

        async def find() -> None:
            self._answers[attributes.identity] = await authorizer.ask(attributes)

        raise Unanswered(find)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """As far as it can be told without the cluster's conversion webhooks."""
        return convert(obj, kind)

    def _params(self, resource: GroupVersionResource) -> WatchedCollection:
        found = self._view.caches.params.get(resource)
        if found is None:
            raise Unanswerable(f"{resource.group_resource} are not followed yet")
        if not found.is_synced:
            if found.failure:
                raise Unanswerable(f"{resource.group_resource}: {found.failure}")
            raise Unanswered(found.synced)
        return self._fresh(found)

    def _fresh(self, collection: WatchedCollection) -> WatchedCollection:
        """Raises Unanswerable for one that has heard nothing for too long."""
        age = collection.age()
        if age > self._view.max_staleness:
            why = collection.failure or "the cluster does not answer"
            raise Unanswerable(f"{collection.watched.name}: not known for {age:.0f}s: {why}")
        return collection
