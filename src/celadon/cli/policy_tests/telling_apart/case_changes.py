"""A case with one thing changed that expressions can read, or selectors look at.

Places are those of `read_inputs`: their first step is a variable of expressions. Behind `request`
stand the user and whether it is a dry run; what a request is called comes from its object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission import Operation
from celadon.cli.checking.questions import user_info
from celadon.cli.policy_tests.first_tests.changed_values import value_at, with_value_at
from celadon.cli.policy_tests.policy_test import Case, plain_document
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.object_shape import shape_problem
from celadon.kube import JsonObject, User, metadata
from celadon.records import dataclass

_PLACE: Final = "generated"
_NAMESPACE: Final = ("v1", "Namespace")
_NAMES: Final[Mapping[Path, Path]] = {
    ("request", "namespace"): ("object", "metadata", "namespace"),
    ("request", "name"): ("object", "metadata", "name"),
}

Change = Callable[[JsonObject, Sequence[str | int], Any], dict[str, Any] | None]
"""What makes an object with another value at a place, as `changed_values` has them."""


def asked_otherwise(case: Case) -> Iterator[Case]:
    """The same object with each operation; an update changes nothing as yet."""
    if case.subresource:
        return
    old = case.old or case.object
    yield replace(case, operation=Operation.CREATE, old=None)
    yield replace(case, operation=Operation.UPDATE, old=old)
    yield replace(case, operation=Operation.DELETE, old=None)


@dataclass(slots=True)
class CaseChanges:
    """`param_kind` is the version and kind of params, if the policy has any. Documents that are the
    same are one, so that settings are shared."""

    _bench: Bench
    _param_kind: tuple[str, str] | None
    _documents: dict[str, Document]

    def with_value(self, case: Case, place: Path, value: Any, change: Change) -> Case | None:  # noqa: ANN401 - any JSON
        """None where that is nothing that could stand there, or nothing would be different."""
        root, *steps = _NAMES.get(place[:2], place[:2]) + place[2:]
        given = self._given(case, str(root))
        if given is None or not _may_be(value, value_at(given, steps)):
            return None
        made = change(given, steps, value)
        if made is None or not _is_like(made, given):
            return None
        if root in ("params", "namespaceObject"):
            return replace(case, cluster=(*case.cluster, self.kept(made)))
        if root == "request":
            return _asked_by(case, made)
        document = plain_document(made, _PLACE)
        if shape_problem(document) is not None:
            return None
        return replace(case, object=document) if root == "object" else replace(case, old=document)

    def value_at(self, case: Case, place: Path) -> Any:  # noqa: ANN401 - any JSON
        """What is there now; None if nothing is."""
        root, *steps = _NAMES.get(place[:2], place[:2]) + place[2:]
        return value_at(self._given(case, str(root)), steps)

    def in_namespace(self, case: Case, labels: Mapping[str, str]) -> Case:
        """In the Namespace that it is in, with other labels."""
        changed = self.with_value(
            case, ("namespaceObject", "metadata", "labels"), labels, with_value_at
        )
        return case if changed is None else changed

    def _given(self, case: Case, root: str) -> JsonObject | None:
        """What stands for a variable of expressions."""
        match root:
            case "object":
                return case.object.value
            case "oldObject":
                return None if case.old is None else case.old.value
            case "request":
                return _request(case)
            case "params":
                return self._latest(case, self._param_kind)
            case "namespaceObject":
                name = metadata.namespace(case.object.value) or case.namespace
                found = self._latest(case, _NAMESPACE, name)
                return found or {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": name},
                }
            case _:
                return None

    def _latest(
        self, case: Case, kind: tuple[str, str] | None, name: str = ""
    ) -> JsonObject | None:
        """The last object of a kind that the case or its test brings."""
        found = [
            one.value
            for one in (*self._bench.setting(case).manifests.looked_up, *case.cluster)
            if (one.value["apiVersion"], one.value["kind"]) == kind
            and (not name or metadata.name(one.value) == name)
        ]
        return found[-1] if found else None

    def kept(self, value: dict[str, Any]) -> Document:
        """A document with this object."""
        key = json.dumps(value, sort_keys=True)
        return self._documents.setdefault(key, plain_document(value, _PLACE))


def _request(case: Case) -> dict[str, Any]:
    user = case.user
    return {
        "dryRun": case.dry_run,
        "userInfo": {
            "username": user.name,
            "groups": list(user.groups),
            "uid": user.uid,
            "extra": {key: list(values) for key, values in user.extra.items()},
        },
    }


def _asked_by(case: Case, made: Mapping[str, Any]) -> Case | None:
    """By the user, and in the way, that the request tells."""
    info = made.get("userInfo", {})
    name = info.get("username")
    if not name:
        return None
    groups, extra = info.get("groups") or (), info.get("extra") or {}
    if not all(map(_are_texts, (groups, *extra.values()))):
        return None
    known = user_info(name, groups)  # nobody is without groups
    user = User(name, known.groups, info.get("uid") or "", extra)
    return replace(case, user=user, dry_run=bool(made.get("dryRun")))


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _may_be(value: object, now: object) -> bool:
    """Whether something may stand where this stands now: anything for nothing, else the like."""
    return value is None or now is None or type(value) is type(now)


def _is_like(made: JsonObject, given: JsonObject) -> bool:
    """Whether it is of the same kind and has a name, if it is an object."""
    if "kind" not in given:
        return True
    kinds = [(one.get("apiVersion"), one.get("kind")) for one in (made, given)]
    return kinds[0] == kinds[1] and isinstance(made.get("metadata"), dict)
