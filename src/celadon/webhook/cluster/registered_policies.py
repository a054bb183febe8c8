"""The policies of one type (validating or mutating) and their bindings, as they are in a cluster.

They come from the cluster's own kind and from ConfigMaps; what has one name twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from celadon.admission import PolicyEngine
from celadon.admission.registration import (
    MutatingAdmissionPolicy,
    RememberedDecoding,
    ValidatingAdmissionPolicy,
    decode_object,
)
from celadon.kube import ApiVersionError, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.webhook.cluster.config_map_policies import Documents
from celadon.webhook.cluster.watched_collection import WatchedCollection

E = TypeVar("E", bound=PolicyEngine)


class RegisteredPolicies(Generic[E]):
    """`engine` has none of them; `kinds` are the kinds of a policy and of a binding."""

    def __init__(
        self,
        engine: E,
        kinds: tuple[str, str],
        policies: WatchedCollection,
        bindings: WatchedCollection,
    ) -> None:
        self.engine = engine
        self.policies: Sequence[ValidatingAdmissionPolicy | MutatingAdmissionPolicy] = ()
        self.bindings: Sequence[Any] = ()
        self._parts = tuple(
            (kind, cached, _decoding(kind))
            for kind, cached in zip(kinds, (policies, bindings), strict=True)
        )
        self._doubles: tuple[str, ...] = ()

    def read(self, written: Documents) -> None:
        """What is in the caches now, and in ConfigMaps; `engine` stays what it was."""
        found: list[list[Any]] = []
        doubles: list[str] = []
        for kind, cached, decoding in self._parts:
            objects, problems = _first_of_each(cached, written.get(kind, ()))
            found.append(decoding.values(objects))
            doubles += problems
        self.policies, self.bindings = found
        self._doubles = tuple(doubles)

    def compile(self) -> None:
        """Make the engine of what was read. It takes a while."""
        self.engine = self.engine.replaced(self.policies, self.bindings).prepare()

    def param_kinds(self) -> Iterator[GroupVersionKind]:
        """That the policies name."""
        for policy in self.policies:
            kind = policy.spec.param_kind
            if kind is None:
                continue
            try:
                version = parse_api_version(kind.api_version)
            except ApiVersionError:
                continue
            yield GroupVersionKind(*version, kind.kind)

    def problems(self) -> Iterator[str]:
        """Which objects cannot be used, and why."""
        for kind, _, decoding in self._parts:
            for name, text in decoding.problems.items():
                yield f"{kind} `{name}`: {text}"
        yield from self._doubles


def _decoding(kind: str) -> RememberedDecoding[Any]:
    return RememberedDecoding(lambda obj: decode_object(obj, kind, _version(obj)).value)


def _first_of_each(
    kind: Iterable[JsonObject], written: Iterable[JsonObject]
) -> tuple[list[JsonObject], list[str]]:
    """The objects of the cluster's own kind, then those in ConfigMaps whose names are still free;
    and what is wrong with the others."""
    found: dict[str, JsonObject] = {}
    problems = []
    for objects, place in ((kind, "the cluster"), (written, "a configmap")):
        for obj in objects:
            name = metadata.name(obj)
            if name in found:
                problems.append(f"`{name}` in {place} is not used: there is another one before it")
            else:
                found[name] = obj
    return list(found.values()), problems


def _version(obj: JsonObject) -> str:
    return str(obj.get("apiVersion") or "").rpartition("/")[2] or "v1"
