"""Reading the metadata of a plain object: what is absent, null or of a wrong type reads as empty.

Objects are JSON values (`dict`, `list`, `str`, …) of any shape, so nothing here raises. Nothing is
written either: objects are never changed in place.
"""

import functools
from typing import Final

from celadon.kube.json_types import JsonObject
from celadon.kube.names import ApiVersionError, GroupVersionKind, parse_api_version
from celadon.kube.well_known_values import DEFINITION_KIND
from celadon.memoization import LONGEST

_NOTHING: Final[JsonObject] = {}


def metadata(obj: object) -> JsonObject:
    """Return the `metadata` member; empty when it is not an object."""
    if isinstance(obj, dict):
        result = obj.get("metadata")
        if isinstance(result, dict):
            return result
    return _NOTHING


def _text(obj: object, field: str) -> str:
    # As by `metadata`, without its call and its looks: a create asks ten times.
    try:
        value = obj["metadata"].get(field)  # type: ignore[index]  # caught
    except (AttributeError, LookupError, TypeError):
        return ""
    return value if isinstance(value, str) else ""


def _texts(obj: object, field: str) -> dict[str, str]:
    value = metadata(obj).get(field)
    if not isinstance(value, dict):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}


def owner_key(owner: JsonObject) -> tuple[tuple[str, object], ...]:
    """Return the same for references to owners that are equal, and different for all others. Their
    members are texts and booleans."""
    return tuple(sorted(owner.items()))


def name(obj: object) -> str:
    """Return the name; empty when there is none, or no text."""
    return _text(obj, "name")


def generate_name(obj: object) -> str:
    """Return the prefix for a name that the server makes up; empty when there is none."""
    return _text(obj, "generateName")


def namespace(obj: object) -> str:
    """Return the namespace; empty for objects without one, whether their kind has namespaces or
    not."""
    return _text(obj, "namespace")


def uid(obj: object) -> str:
    """Return the UID; empty for an object that was never stored."""
    return _text(obj, "uid")


def resource_version(obj: object) -> str:
    """Return the revision that the object was read at; empty for one that was never stored."""
    return _text(obj, "resourceVersion")


def creation_timestamp(obj: object) -> str:
    """Return the time as text (RFC 3339); empty when there is none."""
    return _text(obj, "creationTimestamp")


def deletion_timestamp(obj: object) -> str:
    """Return the time as text (RFC 3339); empty for an object that is not being deleted."""
    return _text(obj, "deletionTimestamp")


def labels(obj: object) -> dict[str, str]:
    """Return the labels whose value is a text."""
    return _texts(obj, "labels")


def annotations(obj: object) -> dict[str, str]:
    """Return the annotations whose value is a text."""
    return _texts(obj, "annotations")


def finalizers(obj: object) -> tuple[str, ...]:
    """Return the finalizers that are texts, in their order."""
    value = metadata(obj).get("finalizers")
    if not isinstance(value, list):
        return ()
    return tuple(finalizer for finalizer in value if isinstance(finalizer, str))


def has_finalizer(obj: object, name: str) -> bool:
    """Return whether it is one of them, of which there may be thousands."""
    value = metadata(obj).get("finalizers")
    return isinstance(value, list) and name in value


def generation(obj: object) -> int:
    """0 when there is none."""
    value = metadata(obj).get("generation")
    return value if value.__class__ is int else 0


def is_definition(obj: object) -> bool:
    """Return whether the object defines a custom resource."""
    return gvk(obj).group_kind == DEFINITION_KIND


def gvk(obj: object) -> GroupVersionKind:
    """Return what `apiVersion` and `kind` say; empty parts where they are missing or unreadable."""
    if not isinstance(obj, dict):
        return GroupVersionKind("", "", "")
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    version_text = api_version if isinstance(api_version, str) else ""
    kind_text = kind if isinstance(kind, str) else ""
    is_long = len(version_text) + len(kind_text) > LONGEST
    return (gvk_of_texts if is_long else _remembered_gvk)(version_text, kind_text)


def gvk_of_texts(api_version: str, kind: str) -> GroupVersionKind:
    """Return the kind; a version that cannot be read counts as none, as upstream."""
    try:
        return GroupVersionKind(*parse_api_version(api_version), kind)
    except ApiVersionError:
        return GroupVersionKind("", "", kind)


_remembered_gvk: Final = functools.lru_cache(1024)(gvk_of_texts)  # a delete asks ten times
