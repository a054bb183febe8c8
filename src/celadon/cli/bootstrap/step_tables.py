"""The tables of what happens while a cluster comes up: YAML in `steps/`, read into values.

An entry of a table is one of four things:

    request: NAME      somebody (`by`) sends something: `create` an object, `update` what another
                       entry created (with a merge patch, `merge`), or `delete` it; below it, at a
                       `subresource`. `needs` are entries that come before. `once` is what is only
                       written into a new cluster. Of what is created, fields that `keeps` names
                       must keep what they hold, and those of `unchanged` must stay as they are,
                       whatever policies make of the object.
    state: NAME        what is so once its `needs` have come about; `otherwise` says in words what
                       follows if they do not, and `level` how bad that is.
    object: NAME       something that is there already (`value`).
    use: TEMPLATE      the entries of `steps/templates/TEMPLATE.yaml`, in which words in angle
                       brackets stand for what `with` has under that name. `"+": <name>` puts the
                       fields of an object into the one it stands in.
"""

from __future__ import annotations

import enum
import functools
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission import Operation
from celadon.cli.check.questions import user_info
from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk
from celadon.goyaml import read_yaml
from celadon.kube import User
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.patterns import late_pattern
from celadon.records import dataclass

TABLES: Final = (
    "api_server",
    "controllers",
    "nodes",
    "static_pods",
    "workloads",
    "running",
    "cleaning_up",
    "repairing",
)

"""In the order in which a cluster comes up."""
_WORD: Final = late_pattern(r"<([a-z-]+)>")
_SPREAD: Final = "+"
_OPERATIONS: Final = {
    "create": Operation.CREATE,
    "update": Operation.UPDATE,
    "delete": Operation.DELETE,
}


class Level(enum.IntEnum):
    """How bad it is that something never comes about. `DEGRADED`: a part does not work.
    `DEADLOCKED`: the cluster does not come up by itself, but somebody can still take away what
    keeps it. `LOCKED_OUT`: nobody can, through the API."""

    SAFE = 0
    DEGRADED = 1
    DEADLOCKED = 2
    LOCKED_OUT = 3

    @property
    def word(self) -> str:
        """`locked-out`."""
        return self.name.lower().replace("_", "-")


def level_of(word: str) -> Level:
    """The level that is called so."""
    return Level[word.upper().replace("-", "_")]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who sends a request: what to call them, and who they are to the server."""

    name: str
    user: User


@dataclass(frozen=True, slots=True)
class Sending:
    """A request of the tables. `document` is the object of a CREATE, None of another operation,
    which is about what `base` created; `merge` changes that. `judged` is whether policies have a
    say: of what somebody only supposes, they have not."""

    name: str
    actor: Actor
    operation: Operation
    document: Document | None = None
    base: str = ""
    merge: JsonObject | None = None
    subresource: str = ""
    needs: tuple[str, ...] = ()
    once: bool = False
    keeps: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    judged: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """What is so once all that it `needs` has come about."""

    name: str
    needs: tuple[str, ...]
    otherwise: str
    level: Level


@dataclass(frozen=True, slots=True)
class Given:
    """An object that is there already."""

    name: str
    document: Document


Entry = Sending | State | Given


@functools.cache
def actors() -> Mapping[str, Actor]:
    """Everybody who sends requests in the tables, by name."""
    return {
        name: Actor(name, user_info(one["name"], one.get("groups", ())))
        for name, one in _value("actors").items()
    }


@functools.cache
def tables() -> tuple[Entry, ...]:
    """The entries of all tables, in their order."""
    return tuple(entry for name in TABLES for entry in _entries(_value(name), {}))


def from_template(name: str, values: JsonObject) -> Iterator[Entry]:
    """The entries of a template, with values for its words."""
    yield from _entries(_value(f"templates/{name}"), values)


def document_of(value: JsonObject) -> Document:
    """An object of ours as if it stood in a file."""
    return Document(_NOWHERE, (), dict(value))


_NOWHERE: Final = Chunk("<simulated>", "", 1, 0, is_json=True)


@functools.cache
def _value(name: str) -> Any:  # noqa: ANN401 - any JSON
    text = pkgutil.get_data("celadon.cli.bootstrap", f"steps/{name}.yaml")
    assert text is not None, f"steps/{name}.yaml belongs to the package"
    ((_, value),) = read_yaml(text.decode())
    return value


def _entries(table: Sequence[JsonObject], values: JsonObject) -> Iterator[Entry]:
    for row in table:
        found = filled(row, values)
        if "use" in found:
            yield from from_template(found["use"], found["with"])
        elif "state" in found:
            needs, level = tuple(found["needs"]), level_of(found["level"])
            yield State(found["state"], needs, found["otherwise"], level)
        elif "object" in found:
            yield Given(found["object"], document_of(found["value"]))
        else:
            yield _sending(found)


def _sending(row: JsonObject) -> Sending:
    (verb,) = _OPERATIONS.keys() & row.keys()
    creates = verb == "create"
    return Sending(
        name=row["request"],
        actor=actors()[row["by"]],
        operation=_OPERATIONS[verb],
        document=document_of(row["create"]) if creates else None,
        base="" if creates else row[verb],
        merge=row.get("merge"),
        subresource=row.get("subresource", ""),
        needs=tuple(row.get("needs", ())),
        once=row.get("once", False),
        keeps=tuple(row.get("keeps", ())),
        unchanged=tuple(row.get("unchanged", ())),
        judged=row.get("judged", True),
    )


def filled(value: Any, values: JsonObject) -> Any:  # noqa: ANN401 - any JSON
    """A value of a template with its words replaced. A text that is one word becomes whatever
    stands for it; what no word is known for stays."""
    if isinstance(value, str):
        whole = _WORD.fullmatch(value)
        if whole is not None and whole[1] in values:
            return values[whole[1]]
        return _WORD.sub(lambda found: str(values.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [filled(one, values) for one in value]
    if isinstance(value, dict):
        made: JsonDict = {}
        for key, one in value.items():
            new = filled(one, values)
            made.update(new if key == _SPREAD else {key: new})
        return made
    return value
