"""The world of one review: what it may look up of the cluster, out of the caches, and by asking.

What is not known yet is asked for once (`Unanswered`), and then known for the rest of the review:
an authorizer's answer, a namespace that is in no cache, params whose cache is being filled. What
is in a cache that has not heard of the cluster for too long is not used: then the review cannot be
decided (`Unanswerable`), and the API server does what the failure policy of the webhook's
configuration says.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from celadon import kube
from celadon.admission import convert
from celadon.apiserver.conversion_webhooks import CalledWebhooks
from celadon.kube.json_types import JsonDict, Shape
from celadon.kube.resources import Catalog
from celadon.kube.selectors import Operator
from celadon.records import dataclass
from celadon.webhook.cluster import cluster_client
from celadon.webhook.cluster.informers import NAMESPACES, ClusterCaches, WatchedCollection
from celadon.webhook.review_decisions import ReviewConverter, Unanswerable, Unanswered

# --- Asked authorizer --------------------------------------------------------
#
# The cluster's authorizer, asked by SubjectAccessReviews, and what it said lately.
#
# An answer is good for ten seconds; so many are remembered, the oldest are forgotten first.
# Reviews that want to know the same thing at the same time ask once. What the authorizer cannot
# be asked is an answer, too: an error, as it is for policies inside of an API server. It is not
# remembered. As k8s.io/apiserver `plugin/pkg/authorizer/webhook`.

REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_REVIEW: Final[Shape] = {
    "status": {"allowed": bool, "denied": bool, "reason": str, "evaluationError": str}
}
ASK_SECONDS: Final = 5.0
"""How long an answer may take."""
GOOD_SECONDS: Final = 10.0
MOST_ANSWERS: Final = 4096


class RemoteAuthorizer:
    """Asks the cluster's authorizer. `clock` is monotonic. `asked` counts the questions that were
    sent."""

    def __init__(self, client: cluster_client.ClusterClient, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock
        self._answers: OrderedDict[Hashable, tuple[float, kube.Answer]] = OrderedDict()
        self._asking: dict[Hashable, asyncio.Future[kube.Answer]] = {}
        self.asked = 0

    def known(self, attributes: kube.Attributes) -> kube.Answer | None:
        """Return what was said lately; None if nobody asked."""
        answer = self._answers.get(attributes.identity)
        if answer is None or answer[0] <= self._clock():
            return None
        return answer[1]

    async def ask(self, attributes: kube.Attributes) -> kube.Answer:
        """Ask the cluster. This never raises for what becomes of the question."""
        identity = attributes.identity
        asking = self._asking.get(identity)
        if asking is None:
            asking = asyncio.ensure_future(self._ask(attributes))
            self._asking[identity] = asking
            asking.add_done_callback(lambda _: self._asking.pop(identity, None))
        return await asyncio.shield(asking)  # others may wait for it, too

    async def _ask(self, attributes: kube.Attributes) -> kube.Answer:
        self.asked += 1
        try:
            request = await self._client.request(
                "POST", REVIEWS, access_review(attributes), seconds=ASK_SECONDS
            )
            cluster_client.require(request, _REVIEW, f"POST {REVIEWS}")
        except cluster_client.ClusterError as error:
            return kube.Ruling.NO_OPINION, "", str(error)
        answer = answer_of(request)
        self._answers[attributes.identity] = (self._clock() + GOOD_SECONDS, answer)
        self._answers.move_to_end(attributes.identity)
        if len(self._answers) > MOST_ANSWERS:
            self._answers.popitem(last=False)
        return answer


def answer_of(review: kube.JsonObject) -> kube.Answer:
    """Return the answer in a review's status."""
    status = review.get("status") or {}
    ruling = kube.Ruling.NO_OPINION
    if status.get("allowed") is True:
        ruling = kube.Ruling.ALLOW
    elif status.get("denied") is True:
        ruling = kube.Ruling.DENY
    return ruling, status.get("reason") or "", status.get("evaluationError") or None


def access_review(attributes: kube.Attributes) -> JsonDict:
    """Return the question as an object."""
    user = attributes.user
    spec: JsonDict = {
        "user": user.name,
        "groups": list(user.groups),
        "uid": user.uid,
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    if attributes.resource_request:
        spec["resourceAttributes"] = _resource_attributes(attributes)
    else:
        spec["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {key: value for key, value in spec.items() if value},
    }


def _resource_attributes(attributes: kube.Attributes) -> JsonDict:
    data: JsonDict = {
        "verb": attributes.verb,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    if attributes.field_selector is not None and not attributes.field_selector_error:
        terms = [
            _term(term.field, "NotIn" if term.negated else "In", [term.value])
            for term in attributes.field_selector.terms
        ]
        data["fieldSelector"] = {"requirements": terms} if terms else None
    if attributes.label_selector is not None and not attributes.label_selector_error:
        terms = [
            _term(requirement.key, _OPERATORS[requirement.operator], requirement.values)
            for requirement in attributes.label_selector.requirements
            if requirement.operator in _OPERATORS
        ]
        data["labelSelector"] = {"requirements": terms} if terms else None
    return {key: value for key, value in data.items() if value}


_OPERATORS: Final = {
    Operator.IN: "In",
    Operator.EQUALS: "In",
    Operator.DOUBLE_EQUALS: "In",
    Operator.NOT_IN: "NotIn",
    Operator.NOT_EQUALS: "NotIn",
    Operator.EXISTS: "Exists",
    Operator.DOES_NOT_EXIST: "DoesNotExist",
}
"""As a LabelSelectorRequirement of meta/v1 names them; the others have no name there."""


def _term(key: str, operator: str, values: Any) -> JsonDict:  # noqa: ANN401 - texts
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


@dataclass(frozen=True, slots=True)
class ClusterView:
    """Holds what all reviews of a time share. `max_staleness` is in seconds."""

    client: cluster_client.ClusterClient
    caches: ClusterCaches
    authorizer: RemoteAuthorizer
    catalog: Catalog
    max_staleness: float
    webhooks: CalledWebhooks | None = None
    """Those of conversion, where they are called."""


class ClusterWorld:
    """A `World` of one review."""

    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._namespaces: dict[str, kube.JsonObject | None] = {}
        self._answers: dict[Hashable, kube.Answer] = {}
        webhooks = view.webhooks
        self._converter = None if webhooks is None else ReviewConverter(webhooks)

    @property
    def catalog(self) -> Catalog:
        """Return the resources of the cluster."""
        return self._view.catalog

    def namespace(self, name: str) -> kube.JsonObject | None:
        """Return a Namespace. One that is in no cache may be newer than the cache: the cluster is
        asked."""
        if name in self._namespaces:
            return self._namespaces[name]
        fresh = self._fresh(self._view.caches.namespaces).get("", name)
        if fresh is not None:
            return fresh

        async def find() -> None:
            try:
                self._namespaces[name] = await self._view.client.get(f"{NAMESPACES}/{name}")
            except cluster_client.ClusterRefusal as refusal:
                if refusal.code != cluster_client.NOT_FOUND:
                    raise Unanswerable(f"namespace `{name}`: {refusal}") from None
                self._namespaces[name] = None
            except cluster_client.ClusterError as error:
                raise Unanswerable(f"namespace `{name}`: {error}") from None

        raise Unanswered(find)

    def get(
        self, resource: kube.GroupVersionResource, namespace: str, name: str
    ) -> kube.JsonObject | None:
        """Return one object of a kind that policies have params of, or a namespace."""
        if resource == kube.well_known_values.NAMESPACES:
            return self.namespace(name)
        return self._params(resource).get(namespace, name)

    def list(
        self, resource: kube.GroupVersionResource, namespace: str
    ) -> Sequence[kube.JsonObject]:
        """Return the objects of a kind that policies have params of."""
        if resource == kube.well_known_values.NAMESPACES:
            return self._fresh(self._view.caches.namespaces).list("")
        return self._params(resource).list(namespace)

    def authorize(self, attributes: kube.Attributes) -> kube.Answer:
        """Return what the cluster's authorizer says."""
        authorizer = self._view.authorizer
        answers = self._answers.get(attributes.identity) or authorizer.known(attributes)
        if answers is not None:
            return answers

        async def find() -> None:
            self._answers[attributes.identity] = await authorizer.ask(attributes)

        raise Unanswered(find)

    def convert(self, obj: kube.JsonObject, kind: kube.GroupVersionKind) -> kube.JsonObject:
        """Return an object in another version, by the cluster's conversion webhooks only where they
        are called. Raises ConversionError."""
        return convert(obj, kind, self.catalog, self._converter)

    def _params(self, resource: kube.GroupVersionResource) -> WatchedCollection:
        collection = self._view.caches.params.get(resource)
        if collection is None:
            raise Unanswerable(f"{resource.group_resource} are not followed yet")
        if not collection.is_synced:
            if collection.failure:
                raise Unanswerable(f"{resource.group_resource}: {collection.failure}")
            raise Unanswered(collection.synced)
        return self._fresh(collection)

    def _fresh(self, collection: WatchedCollection) -> WatchedCollection:
        """Return the cache. Raises Unanswerable for one that has heard nothing for too long."""
        age = collection.age()
        if age > self._view.max_staleness:
            reason = collection.failure or "the cluster does not answer"
            raise Unanswerable(f"{collection.watched.name}: not known for {age:.0f}s: {reason}")
        return collection
