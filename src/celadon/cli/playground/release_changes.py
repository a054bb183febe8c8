"""What another release of Kubernetes would say to the same state, and what its CEL has besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.kube.library import environment

_COMPARED: Final = ("allowed", "code", "message", "warnings", "auditAnnotations", "mutation")
"""Members of an object's result."""


def release_changes(
    release: str, other: str, here: Mapping[str, Any], there: Mapping[str, Any]
) -> dict[str, Any]:
    """From the verdict of one release to that of the other."""
    return {
        "from": release,
        "to": other,
        "differences": list(_differences(here, there)),
        "functions": _functions(release, other),
    }


def _differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if here.get("report") is None or there.get("report") is None:
        for name in ("value", "type", "message", "cost"):
            yield from _difference(name, here.get(name), there.get(name))
        return
    before, after = here["report"], there["report"]
    mine, others = before["objects"], after["objects"]
    for number in range(max(len(mine), len(others))):
        one = mine[number] if number < len(mine) else {}
        other = others[number] if number < len(others) else {}
        title = f"{one.get('kind', other.get('kind'))} {one.get('name', other.get('name'))}"
        for name in _COMPARED:
            yield from _difference(f"{title}: {name}", one.get(name), other.get(name))
    for name in ("policyErrors", "notices", "problems"):
        yield from _difference(name, _messages(before[name]), _messages(after[name]))


def _messages(found: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [one["message"] for one in found]


def _difference(name: str, before: object, after: object) -> Iterator[dict[str, Any]]:
    if before != after:
        yield {"what": name, "before": before, "after": after}


def _functions(release: str, other: str) -> dict[str, list[str]]:
    """Names of functions that only one of the two has."""
    mine, others = _names(release), _names(other)
    return {"added": sorted(others - mine), "removed": sorted(mine - others)}


def _names(release: str) -> set[str]:
    """Without operators and what nobody writes."""
    found = environment(release).declarations.functions
    return {name for name in found if name[:1].isalpha()}
