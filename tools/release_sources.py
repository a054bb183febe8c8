"""Older releases in the sources: what `data/releases/MINOR.json` says, and the pack `releases`.

A file says what its release has differently from the next newer one, as patches of the sources
(`celadon.kube.schemas.schema_packs.patched` says how they are read), by the names of files and
folders in `data/`. So all packs of a release can be built as those of the newest one are; what
differs between the packs of one release and the next is what the pack `releases` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pack_sources import FILES, FOLDERS, Sources, read

from celadon.kube.schemas.schema_packs import WHOLE, patched, resources_by_key

Json = Any

LEVELS: Final = 5
"""So many levels of a file stand on lines of their own."""


def release_changes(folder: Path) -> Iterator[tuple[str, Json]]:
    """The releases that have a file, the newest first, and what their files say."""
    files = dict(read(folder / "releases"))
    for release in sorted(files, key=_minor, reverse=True):
        yield release, files[release]


def _minor(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def release_sources(newer: Sources, change: Json) -> Sources:
    """The sources of a release, of those of the next newer one."""
    for patches in (change, change.get("more", {})):
        newer = {name: patched(newer[name], patches.get(name, {})) for name in (*FILES, *FOLDERS)}
    return newer


def pack_change(name: str, newer: Json, older: Json) -> Json:
    """How a pack differs from that of the next newer release."""
    if name != "resources":
        return difference(newer, older)
    change = difference(resources_by_key(newer), resources_by_key(older))
    groups = difference({"": newer["groups"]}, {"": older["groups"]})
    if groups:
        change["groups"] = groups[""]
    return change


def difference(newer: Json, older: Json, *, is_ordered: bool = False) -> Json:
    """The patch that makes one object of another; empty where they are equal. `is_ordered` says
    that the order of members counts where they are fields."""
    change: dict[str, Json] = {key: None for key in newer if key not in older}
    for key, value in older.items():
        if key not in newer:
            change[key + WHOLE if _holds_null(value) else key] = value
        elif isinstance(value, dict) and isinstance(newer[key], dict):
            inner = difference(newer[key], value, is_ordered=is_ordered)
            is_fields = is_ordered and key == "fields"
            if inner and is_fields and list(patched(newer[key], inner)) != list(value):
                change[key + WHOLE] = value
            elif inner:
                change[key] = inner
        elif value != newer[key] or type(value) is not type(newer[key]):
            change[key + WHOLE if _holds_null(value) else key] = value
    return change


def _holds_null(value: Json) -> bool:
    if isinstance(value, dict):
        return any(key.endswith(WHOLE) or _holds_null(one) for key, one in value.items())
    return value is None
