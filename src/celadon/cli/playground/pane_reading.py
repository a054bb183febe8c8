"""The texts of panes as documents, and as what else they are: the user, variables.

A pane that has not changed is not read again: its documents are the same objects as before, by
which everything behind knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from celadon.admission import ADMIN
from celadon.cli.checking.questions import user_info
from celadon.cli.playground.playground_states import Pane, State
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.object_shape import shape_problem
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.kube import User
from celadon.records import dataclass

_USER_FIELDS: Final = ("username", "groups", "uid", "extra")


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a pane, and what is wrong with it."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


class PaneReader:
    """Reads panes, and remembers the last text of each."""

    def __init__(self) -> None:
        self._reader = DocumentReader(keeps_repeated=True)
        self._known: dict[Pane, tuple[str, Reading]] = {}
        self._values: dict[Pane, tuple[str, Any]] = {}

    def read(self, state: State, pane: Pane) -> Reading:
        """The objects in a pane."""
        text = state.text(pane)
        known = self._known.get(pane)
        if known is None or known[0] != text:
            known = self._known[pane] = text, self._read(pane, text)
        return known[1]

    def documents(self, state: State, panes: Iterable[Pane]) -> tuple[Document, ...]:
        """The objects of several panes, in their order."""
        return tuple(one for pane in panes for one in self.read(state, pane).documents)

    def _read(self, pane: Pane, text: str) -> Reading:
        documents: list[Document] = []
        problems: list[Problem] = []
        for item in self._reader.read(Text(pane.value, text)):
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                problems.append(problem)
            elif isinstance(item, Document):
                documents.append(item)
        return Reading(tuple(documents), tuple(problems))

    def mapping(self, state: State, pane: Pane) -> dict[str, Any] | Problem:
        """The one map that a pane holds; an empty one of an empty pane."""
        text = state.text(pane)
        known = self._values.get(pane)
        if known is None or known[0] != text:
            known = self._values[pane] = text, self._mapping(pane, text)
        found: dict[str, Any] | Problem = known[1]
        return found

    def _mapping(self, pane: Pane, text: str) -> dict[str, Any] | Problem:
        values = []
        for item in self._reader.values(Text(pane.value, text)):
            if isinstance(item, Problem):
                return item
            values.append(item)
        filled = [(chunk, value) for chunk, value in values if value is not None]
        if not filled:
            return {}
        chunk, value = filled[0]
        if len(filled) > 1 or not isinstance(value, dict):
            return Problem(pane.value, chunk.line(), "one map is expected here")
        return value

    def user(self, state: State) -> User | Problem:
        """Who asks: an administrator where nobody is named."""
        given = self.mapping(state, Pane.USER)
        if isinstance(given, Problem):
            return given
        for name in given:
            if name not in _USER_FIELDS:
                text = f"`{name}` is none of {', '.join(_USER_FIELDS)}"
                return Problem(Pane.USER.value, 1, text)
        return _user(given)


def _user(given: dict[str, Any]) -> User | Problem:
    username, uid = given.get("username") or "", given.get("uid") or ""
    groups, extra = given.get("groups") or [], given.get("extra") or {}
    if not (isinstance(username, str) and isinstance(uid, str)):
        return Problem(Pane.USER.value, 1, "`username` and `uid` must be text")
    if not _are_texts(groups):
        return Problem(Pane.USER.value, 1, "`groups` must be a list of texts")
    if not isinstance(extra, dict) or not all(map(_are_texts, extra.values())):
        return Problem(Pane.USER.value, 1, "`extra` must have lists of texts")
    if username:
        found = user_info(username, groups)
    else:
        found = replace(ADMIN, groups=tuple(groups)) if groups else ADMIN
    if not (uid or extra):
        return found
    return replace(found, uid=uid, extra={key: tuple(one) for key, one in extra.items()})


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
