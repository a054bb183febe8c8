"""The panes of the playground's page as values: their texts as documents, users and variables, and
the explanations that a pane draws, as JSON."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeVar

from celadon.admission import ADMIN, Operation
from celadon.cel import EvaluationError, Issues, Program, ProgramError, types
from celadon.cel.tracing import TraceRecorder
from celadon.cel.value_functions import notation
from celadon.cli.annotated_source import Loop, Mark, Snippet, brief, traced
from celadon.cli.annotated_source import State as PartState
from celadon.cli.check.check_options import FIELD_VALIDATIONS
from celadon.cli.check.document_requests import user_info
from celadon.cli.options import DEFAULT_VERSION, VERSIONS
from celadon.cli.reading.documents import Document, DocumentReader, Problem, Text, shape_problem
from celadon.cli.report.explanation_outline import Item, Style
from celadon.cli.report.report_model import data, filled
from celadon.kube import Json, JsonObject, User
from celadon.kube.json_types import JsonDict
from celadon.kube.library import PER_CALL_COST, environment
from celadon.kube.registry import request_bodies
from celadon.records import dataclass

# --- Explanations as JSON ----------------------------------------------------

# Explanations as JSON for a page that draws them: items within items, expressions in pieces.
#
# An expression is a list of pieces, texts and parts in turn; a part has pieces of its own, and
# what it came to. So whoever draws it needs no offsets.

_ROOM_OF_PART: Final = 400
"""Characters of a value."""


def item_tree(item: Item) -> JsonObject:
    """Return the item and all below it; what is empty is left out."""
    return filled(
        label=item.label,
        text=item.text,
        style=item.style.value,
        lines=list(item.lines),
        expression=None if item.snippet is None else expression_tree(item.snippet),
        source=item.source,
        items=[item_tree(inner) for inner in item.items],
        opens=item.opens or None,
    )


def expression_tree(snippet: Snippet) -> JsonObject:
    """Return a stretch of an expression, and the rounds of its loops."""
    return filled(
        pieces=list(_pieces(snippet.text, snippet.start, snippet.end, snippet.marks)),
        loops=[_loop(loop, snippet.text) for loop in snippet.loops],
    )


def _pieces(text: str, start: int, end: int, marks: Sequence[Mark]) -> Iterator[object]:
    index = start
    for mark in marks:
        if mark.start > index:
            yield text[index : mark.start]
        yield _part(mark, text)
        index = mark.end
    if end > index:
        yield text[index:end]


def _part(mark: Mark, text: str) -> Any:  # noqa: ANN401 - JSON
    """Return a part. A literal says itself what it is."""
    if mark.is_literal:
        return text[mark.start : mark.end]
    return filled(
        pieces=list(_pieces(text, mark.start, mark.end, mark.parts)),
        state=_state(mark),
        value=None if mark.state is PartState.SKIPPED else brief(mark.value, _ROOM_OF_PART),
        cost=mark.cost,
    )


def _state(mark: Mark) -> str:
    """Return the state of a part: `true` and `false` are what people look for."""
    if mark.state is PartState.VALUE:
        return str(mark.value).lower() if isinstance(mark.value, bool) else "value"
    return {PartState.ERROR: "error", PartState.PASSED_ON: "passed", PartState.SKIPPED: "skipped"}[
        mark.state
    ]


def _loop(loop: Loop, text: str) -> JsonObject:
    return {
        "macro": text[loop.start : loop.end],
        "count": loop.count,
        "rounds": [
            {
                "number": each.number,
                "variables": {name: brief(value, _ROOM_OF_PART) for name, value in each.variables},
                **expression_tree(each.snippet),
            }
            for each in loop.rounds
        ],
    }


# --- Panes -------------------------------------------------------------------

# The texts of panes as documents, and as what else they are: the user, variables.
#
# A pane that has not changed is not read again: its documents are the same objects as before, by
# which everything behind knows them.

# --- Playground states -------------------------------------------------------
#
# What is asked of the playground: the state of its page, which a link carries whole.
#
#     {"version": 1, "mode": "validating", "release": "1.36", "operation": "CREATE",
#      "panes": {"policy": "...", "object": "..."}}
#
# What is left out has its default. Whatever comes from a link is hostile input: every member is
# looked at, and a state that is none is refused in a sentence.

FORMAT: Final = 1
"""The version of this form, which links name."""

MAX_CHARACTERS: Final = 1_000_000
"""Of all panes together: far more than anyone types, and little enough to be read at once."""


class Mode(enum.Enum):
    """Says what a playground is about. All but `EXPRESSION` are decided in the same way, by what
    the panes of the mode hold; what stands in others waits for another mode."""

    VALIDATING = "validating"
    MUTATING = "mutating"
    RULES = "rules"
    WEBHOOK = "webhook"
    EXPRESSION = "expression"


class Pane(enum.Enum):
    """A text of the page. Its name stands where a file's would in what is said of it."""

    POLICY = "policy"
    BINDING = "binding"
    PARAMS = "params"
    NAMESPACE = "namespace"
    CLUSTER = "cluster"
    AUTHORIZER = "authorizer"
    OBJECT = "object"
    OLD_OBJECT = "oldObject"
    USER = "user"
    BEFORE = "before"
    PROPERTIES = "properties"
    EXPRESSION = "expression"
    VARIABLES = "variables"


_AROUND: Final = frozenset({Pane.OBJECT, Pane.OLD_OBJECT, Pane.NAMESPACE, Pane.USER})
_POLICIES: Final = frozenset(
    {Pane.POLICY, Pane.BINDING, Pane.PARAMS, Pane.AUTHORIZER, Pane.CLUSTER}
)
PANES_OF: Final[Mapping[Mode, frozenset[Pane]]] = {
    Mode.VALIDATING: _POLICIES | _AROUND | {Pane.BEFORE, Pane.PROPERTIES},
    Mode.MUTATING: _POLICIES | _AROUND,
    Mode.RULES: frozenset(
        {Pane.POLICY, Pane.CLUSTER, Pane.OBJECT, Pane.OLD_OBJECT, Pane.USER, Pane.BEFORE}
    ),
    Mode.WEBHOOK: frozenset({Pane.POLICY, Pane.AUTHORIZER, Pane.CLUSTER}) | _AROUND,
    Mode.EXPRESSION: frozenset(
        {Pane.EXPRESSION, Pane.VARIABLES, Pane.OBJECT, Pane.OLD_OBJECT, Pane.PARAMS}
    ),
}
"""What can be seen, and counts, in a mode: `web/src/modes.js` shows these."""


class StateError(ValueError):
    """The text is no state of the playground; the message says why."""


@dataclass(frozen=True, slots=True)
class State:
    """All of it. `compared` is another release to decide in, empty for none."""

    mode: Mode = Mode.VALIDATING
    release: str = DEFAULT_VERSION
    compared: str = ""
    operation: Operation = Operation.CREATE
    subresource: str = ""
    dry_run: bool = False
    field_validation: str = request_bodies.STRICT
    panes: Mapping[Pane, str] = field(default_factory=dict)

    def text(self, pane: Pane) -> str:
        """Return what stands in a pane; nothing where it was never opened, or is not of the
        mode."""
        return self.panes.get(pane, "") if pane in PANES_OF[self.mode] else ""


def state_of(state: Json) -> State:
    """Read a state. Raises StateError."""
    if not isinstance(state, dict):
        raise StateError("the state of a playground is an object")
    if state.get("version") != FORMAT:
        raise StateError(f"this playground reads states of version {FORMAT}")
    return State(
        _choice(state, "mode", Mode, Mode.VALIDATING),
        _release(state, "release", DEFAULT_VERSION),
        _release(state, "compared", ""),
        _choice(state, "operation", Operation, Operation.CREATE),
        _text(state, "subresource"),
        state.get("dryRun") is True,
        _field_validation(state),
        _panes(state.get("panes", {})),
    )


_Chosen = TypeVar("_Chosen", bound=enum.Enum)


def _choice(
    fields: Mapping[str, Json], name: str, choices: type[_Chosen], default: _Chosen
) -> _Chosen:
    value = fields.get(name, default.value)
    chosen = (
        {choice.value: choice for choice in choices}.get(value) if isinstance(value, str) else None
    )
    if chosen is None:
        raise StateError(
            f"`{name}` is none of {', '.join(str(choice.value) for choice in choices)}"
        )
    return chosen


def _release(fields: Mapping[str, Json], name: str, default: str) -> str:
    value = fields.get(name, default)
    if value != default and value not in VERSIONS:
        raise StateError(f"`{name}` is no release from {VERSIONS[0]} to {VERSIONS[-1]}")
    return str(value)


def _field_validation(fields: Mapping[str, Json]) -> str:
    value = fields.get("fieldValidation", request_bodies.STRICT)
    if value not in FIELD_VALIDATIONS:
        raise StateError(f"`fieldValidation` is none of {', '.join(FIELD_VALIDATIONS)}")
    return str(value)


def _text(fields: Mapping[str, Json], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise StateError(f"`{name}` is no text")
    return value


def _panes(value: Json) -> dict[Pane, str]:
    if not isinstance(value, dict):
        raise StateError("`panes` is no object")
    panes = {pane.value: pane for pane in Pane}
    result: dict[Pane, str] = {}
    for name, text in value.items():
        if name not in panes:
            raise StateError(f"there is no pane `{name}`")
        if not isinstance(text, str):
            raise StateError(f"pane `{name}` is no text")
        result[panes[name]] = text
    if sum(map(len, result.values())) > MAX_CHARACTERS:
        raise StateError(f"the panes have more than {MAX_CHARACTERS:,} characters")
    return result


_USER_FIELDS: Final = ("username", "groups", "uid", "extra")


@dataclass(frozen=True, slots=True)
class Reading:
    """Holds what stands in a pane, and what is wrong with it."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


class PaneReader:
    """Reads panes, and remembers the last text of each."""

    def __init__(self) -> None:
        self._reader = DocumentReader(keeps_repeated=True)
        self._readings: dict[Pane, tuple[str, Reading]] = {}
        self._values: dict[Pane, tuple[str, Any]] = {}

    def read(self, state: State, pane: Pane) -> Reading:
        """Return the objects in a pane."""
        text = state.text(pane)
        reading = self._readings.get(pane)
        if reading is None or reading[0] != text:
            reading = self._readings[pane] = text, self._read(pane, text)
        return reading[1]

    def documents(self, state: State, panes: Iterable[Pane]) -> tuple[Document, ...]:
        """Return the objects of several panes, in their order."""
        return tuple(document for pane in panes for document in self.read(state, pane).documents)

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

    def mapping(self, state: State, pane: Pane) -> dict[str, object] | Problem:
        """Return the one map that a pane holds; an empty one of an empty pane."""
        text = state.text(pane)
        value = self._values.get(pane)
        if value is None or value[0] != text:
            value = self._values[pane] = text, self._mapping(pane, text)
        mapped: dict[str, object] | Problem = value[1]
        return mapped

    def _mapping(self, pane: Pane, text: str) -> dict[str, object] | Problem:
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
        """Return who asks: an administrator where nobody is named."""
        mapping = self.mapping(state, Pane.USER)
        if isinstance(mapping, Problem):
            return mapping
        for name in mapping:
            if name not in _USER_FIELDS:
                text = f"`{name}` is none of {', '.join(_USER_FIELDS)}"
                return Problem(Pane.USER.value, 1, text)
        return _user(mapping)


def _user(value: JsonDict) -> User | Problem:
    username, uid = value.get("username") or "", value.get("uid") or ""
    groups, extra = value.get("groups") or [], value.get("extra") or {}
    if not (isinstance(username, str) and isinstance(uid, str)):
        return Problem(Pane.USER.value, 1, "`username` and `uid` must be text")
    if not _are_texts(groups):
        return Problem(Pane.USER.value, 1, "`groups` must be a list of texts")
    if not isinstance(extra, dict) or not all(map(_are_texts, extra.values())):
        return Problem(Pane.USER.value, 1, "`extra` must have lists of texts")
    if username:
        user = user_info(username, groups)
    else:
        user = replace(ADMIN, groups=tuple(groups)) if groups else ADMIN
    if not (uid or extra):
        return user
    return replace(user, uid=uid, extra={key: tuple(member) for key, member in extra.items()})


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# --- Bare expressions --------------------------------------------------------
#
# A bare expression and its variables: the mode without a request.
#
# Variables come from the pane of that name, and `object`, `oldObject` and `params` from theirs;
# their types are dynamic, as those of objects in policies.

_NAMED: Final = (Pane.OBJECT, Pane.OLD_OBJECT, Pane.PARAMS)
"""Panes that are variables of the same name."""
_ROOM: Final = 4_000


def expression_verdict(state: State, panes: PaneReader) -> dict[str, object]:
    """Return the value, or what is wrong: `issues` with offsets in code points, `problems` of
    panes."""
    text = state.text(Pane.EXPRESSION)
    bound = bound_variables(state, panes)
    if isinstance(bound, Problem):
        return {"problems": [data(bound)]}
    if not text.strip():
        return {"problems": []}
    program = _program(text, bound, state.release)
    if isinstance(program, Issues):
        return {"issues": _issues(program), "message": program.display()}
    try:
        value, cost = program.evaluate_metered(bound, PER_CALL_COST)
    except EvaluationError as error:
        where = program.locate(bound, error)
        return {"issues": _issues(where), "message": error.message, "type": str(program.type)}
    return {
        "value": _shown(value),
        "type": str(program.type),
        "cost": {"spent": cost, "limit": PER_CALL_COST},
    }


def expression_details(state: State, panes: PaneReader) -> JsonDict:
    """Return the expression with the value of every part."""
    text, bound = state.text(Pane.EXPRESSION), bound_variables(state, panes)
    if isinstance(bound, Problem) or not text.strip():
        return {}
    program = _program(text, bound, state.release)
    if isinstance(program, Issues):
        return {}
    recorder = TraceRecorder()
    value: object
    try:
        value, _ = program.evaluate_traced(bound, recorder, PER_CALL_COST)
    except EvaluationError as error:
        value = error
    snippet = traced(program.checked.ast, recorder.frame)
    style = Style.BAD if isinstance(value, EvaluationError) else Style.PLAIN
    item = Item(Pane.EXPRESSION.value, brief(value, 80), style, snippet=snippet)
    return {"explanation": [item_tree(item)]}


def bound_variables(state: State, panes: PaneReader) -> JsonObject | Problem:
    """Return the variables by name, or what is wrong with the panes that give them."""
    result: dict[str, object] = {}
    for pane in _NAMED:
        if state.text(pane).strip():
            value = panes.mapping(state, pane)
            if isinstance(value, Problem):
                return value
            result[pane.value] = value
    mapping = panes.mapping(state, Pane.VARIABLES)
    if isinstance(mapping, Problem):
        return mapping
    wrong = [name for name in mapping if not name.isidentifier() or not name.isascii()]
    if wrong:
        return Problem(Pane.VARIABLES.value, 1, f"`{wrong[0]}` is no name of a variable")
    return {**result, **mapping}


def _program(text: str, bound: JsonObject, release: str) -> Program | Issues:
    env = environment(release).extend(dict.fromkeys(bound, types.DYN))
    compilation = env.compile(text)
    if compilation.ast is None:
        return compilation.issues
    try:
        return env.program(compilation.ast)
    except ProgramError as error:
        issues = Issues(compilation.ast.ast.source)
        issues.add(str(error), None)
        return issues


def _issues(issues: Issues) -> list[dict[str, Json]]:
    return [{"message": item.message, "offset": item.offset} for item in issues]


def _shown(value: Json) -> str:
    try:
        text = notation(value)
    except EvaluationError:
        return brief(value, _ROOM)
    return text if len(text) <= _ROOM else brief(value, _ROOM)
