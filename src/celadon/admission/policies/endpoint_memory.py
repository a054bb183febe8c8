"""What follows from an endpoint and an operation alone, worked out once for all requests to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from celadon.admission import policy_limits
from celadon.admission.policies.matching import Target
from celadon.admission.request import Request
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.resources import Catalog

T = TypeVar("T")
_Endpoint = tuple[GroupVersionResource, GroupVersionKind, str, str, bool]


def target_of(request: Request) -> Target:
    """Return what all requests to the same endpoint have in common."""
    return Target(*_endpoint_of(request))


def _endpoint_of(request: Request) -> _Endpoint:
    return (
        request.resource,
        request.kind,
        request.subresource,
        request.operation.value,
        request.namespace != "",
    )


class PerEndpoint(Generic[T]):
    """This is what `find` says of each endpoint, asked when a request to it comes first.

    INVARIANT (bounded): what is remembered holds for one catalog, and no more endpoints are
    remembered than `policy_limits.CANDIDATE_CACHE_ENTRIES`: requests can name any subresource.
    """

    __slots__ = ("_catalog", "_find", "_found")

    def __init__(self, find: Callable[[Target, Catalog], T]) -> None:
        self._find = find
        self._catalog: Catalog | None = None
        self._found: dict[_Endpoint, T] = {}

    def __len__(self) -> int:
        """Return how many endpoints are remembered."""
        return len(self._found)

    def of(self, request: Request, catalog: Catalog) -> T:
        """Return what `find` says of the request's endpoint."""
        if catalog is not self._catalog:
            self._catalog, self._found = catalog, {}
        endpoint = _endpoint_of(request)
        found = self._found.get(endpoint)
        if found is None:
            found = self._find(Target(*endpoint), catalog)
            if len(self._found) >= policy_limits.CANDIDATE_CACHE_ENTRIES:
                self._found = {}
            self._found[endpoint] = found
        return found
