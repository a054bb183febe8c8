"""What is asked of the playground: the state of its page, which a link carries whole.

    {"version": 1, "mode": "validating", "release": "1.36", "operation": "CREATE",
     "panes": {"policy": "...", "object": "..."}}

What is left out has its default. Whatever comes from a link is hostile input: every member is
looked at, and a state that is none is refused in a sentence.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Final, TypeVar

from celadon.admission import Operation
from celadon.cli.checking.given.check_options import FIELD_VALIDATIONS
from celadon.cli.release_option import DEFAULT_VERSION, VERSIONS
from celadon.kube import Json
from celadon.kube.registry import request_options
from celadon.records import dataclass

FORMAT: Final = 1
"""The version of this form, which links name."""

MAX_CHARACTERS: Final = 1_000_000
"""Of all panes together: far more than anyone types, and little enough to be read at once."""


class Mode(enum.Enum):
    """What a playground is about. All but `EXPRESSION` are decided in the same way, by what the
    panes of the mode hold; what stands in others waits for another mode."""

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
    EXPRESSION = "expression"
    VARIABLES = "variables"


_AROUND: Final = frozenset({Pane.OBJECT, Pane.OLD_OBJECT, Pane.NAMESPACE, Pane.USER})
_POLICIES: Final = frozenset(
    {Pane.POLICY, Pane.BINDING, Pane.PARAMS, Pane.AUTHORIZER, Pane.CLUSTER}
)
PANES_OF: Final[Mapping[Mode, frozenset[Pane]]] = {
    Mode.VALIDATING: _POLICIES | _AROUND,
    Mode.MUTATING: _POLICIES | _AROUND,
    Mode.RULES: frozenset({Pane.POLICY, Pane.CLUSTER, Pane.OBJECT, Pane.OLD_OBJECT, Pane.USER}),
    Mode.WEBHOOK: frozenset({Pane.POLICY, Pane.AUTHORIZER, Pane.CLUSTER}) | _AROUND,
    Mode.EXPRESSION: frozenset(
        {Pane.EXPRESSION, Pane.VARIABLES, Pane.OBJECT, Pane.OLD_OBJECT, Pane.PARAMS}
    ),
}
"""What can be seen, and counts, in a mode: `web/src/modes.js` shows these."""


class StateError(ValueError):
    """Not a state of the playground; the text says why."""


@dataclass(frozen=True, slots=True)
class State:
    """All of it. `compared` is another release to decide in, empty for none."""

    mode: Mode = Mode.VALIDATING
    release: str = DEFAULT_VERSION
    compared: str = ""
    operation: Operation = Operation.CREATE
    subresource: str = ""
    dry_run: bool = False
    field_validation: str = request_options.STRICT
    panes: Mapping[Pane, str] = field(default_factory=dict)

    def text(self, pane: Pane) -> str:
        """What stands in a pane; nothing where it was never opened, or is not of the mode."""
        return self.panes.get(pane, "") if pane in PANES_OF[self.mode] else ""


def state_of(given: Json) -> State:
    """Raises StateError."""
    if not isinstance(given, dict):
        raise StateError("the state of a playground is an object")
    if given.get("version") != FORMAT:
        raise StateError(f"this playground reads states of version {FORMAT}")
    return State(
        _choice(given, "mode", Mode, Mode.VALIDATING),
        _release(given, "release", DEFAULT_VERSION),
        _release(given, "compared", ""),
        _choice(given, "operation", Operation, Operation.CREATE),
        _text(given, "subresource"),
        given.get("dryRun") is True,
        _field_validation(given),
        _panes(given.get("panes", {})),
    )


_Chosen = TypeVar("_Chosen", bound=enum.Enum)


def _choice(
    given: Mapping[str, Json], name: str, choices: type[_Chosen], default: _Chosen
) -> _Chosen:
    value = given.get(name, default.value)
    found = {one.value: one for one in choices}.get(value) if isinstance(value, str) else None
    if found is None:
        raise StateError(f"`{name}` is none of {', '.join(str(one.value) for one in choices)}")
    return found


def _release(given: Mapping[str, Json], name: str, default: str) -> str:
    value = given.get(name, default)
    if value != default and value not in VERSIONS:
        raise StateError(f"`{name}` is no release from {VERSIONS[0]} to {VERSIONS[-1]}")
    return str(value)


def _field_validation(given: Mapping[str, Json]) -> str:
    value = given.get("fieldValidation", request_options.STRICT)
    if value not in FIELD_VALIDATIONS:
        raise StateError(f"`fieldValidation` is none of {', '.join(FIELD_VALIDATIONS)}")
    return str(value)


def _text(given: Mapping[str, Json], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise StateError(f"`{name}` is no text")
    return value


def _panes(given: Json) -> dict[Pane, str]:
    if not isinstance(given, dict):
        raise StateError("`panes` is no object")
    known = {one.value: one for one in Pane}
    found: dict[Pane, str] = {}
    for name, text in given.items():
        if name not in known:
            raise StateError(f"there is no pane `{name}`")
        if not isinstance(text, str):
            raise StateError(f"pane `{name}` is no text")
        found[known[name]] = text
    if sum(map(len, found.values())) > MAX_CHARACTERS:
        raise StateError(f"the panes have more than {MAX_CHARACTERS:,} characters")
    return found
