"""How a configuration is refused: the server does not start with it."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.kube import FieldError, JsonObject, fieldpath


class BadConfiguration(ValueError):
    """What is wrong, in one line; field errors are in the words of Kubernetes."""


def require_kind(document: object, kind: str, api_versions: Sequence[str]) -> JsonObject:
    """Raises BadConfiguration for everything that is no such object."""
    if not isinstance(document, dict):
        raise BadConfiguration(f"no object of kind {kind}")
    given = document.get("kind"), document.get("apiVersion")
    if given[0] != kind or given[1] not in api_versions:
        wanted = f"{kind} of {' or '.join(api_versions)}"
        raise BadConfiguration(f"{wanted} is expected, not {given[0]} of {given[1]}")
    return document


def refuse(errors: Sequence[FieldError]) -> None:
    """Raises BadConfiguration if there are any."""
    if errors:
        raise BadConfiguration(fieldpath.aggregate(errors))


def objects_in(document: JsonObject, field: str) -> Sequence[JsonObject]:
    """A list of objects that may be missing. Raises BadConfiguration for anything else."""
    found = document.get(field) or ()
    if not isinstance(found, list | tuple) or not all(isinstance(one, dict) for one in found):
        raise BadConfiguration(f"{field}: a list of objects is expected")
    return found


def texts_in(document: JsonObject, field: str) -> tuple[str, ...]:
    """A list of texts that may be missing. Raises BadConfiguration for anything else."""
    found = document.get(field) or ()
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in found):
        raise BadConfiguration(f"{field}: a list of texts is expected")
    return tuple(found)


def text_in(document: JsonObject, field: str) -> str:
    """A text that may be missing. Raises BadConfiguration for anything else."""
    found = document.get(field)
    if found is not None and not isinstance(found, str):
        raise BadConfiguration(f"{field}: a text is expected")
    return found or ""


def refuse_unknown(document: JsonObject, known: Sequence[str]) -> None:
    """As strict decoding does. Raises BadConfiguration for fields that are not known."""
    fields = {"apiVersion", "kind", *known}
    errors = [f'unknown field "{one}"' for one in document if one not in fields]
    if errors:
        raise BadConfiguration(f"strict decoding error: {', '.join(errors)}")
