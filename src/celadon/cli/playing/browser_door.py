"""What the page's worker calls: texts in, texts out, since JSON is what two languages share.

`answer` never raises: what goes wrong is a sentence under `error`, in the words of a crash report
if it is our own fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from celadon.cli.crashes import summary
from celadon.cli.playing.deciding_desk import Desk
from celadon.cli.playing.playground_states import Pane, State, StateError, state_of

_DESK: Final = Desk()


def answer(question: str, given: str) -> str:
    """`question` is one of `state` (whether it is one), `verdict`, `details`, `files`, `import` and
    `complete`."""
    try:
        found = _QUESTIONS[question](json.loads(given))
    except StateError as error:
        found = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - the page goes on
        found = {"error": f"internal error: {summary(error)}"}
    return json.dumps(found, ensure_ascii=False)


def _files(given: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    from celadon.cli.playing.exported_files import exported_files  # late: on demand

    return {"files": exported_files(state_of(given))}


def _imported(given: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    from celadon.cli.playing.imported_manifests import imported  # late: on demand

    return dict(imported(given))


def _completions(given: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """In an expression, if there is one at the place; else the fields of an object."""
    from celadon.cli.playing.completing_panes.expression_completions import (
        expression_completions,  # late: on demand
    )
    from celadon.cli.playing.completing_panes.schema_completions import (
        completions,  # late: on demand
    )

    state, pane = state_of(given["state"]), Pane(given["pane"])
    found = expression_completions(state, pane, int(given["line"]), int(given["character"]))
    if found is not None:
        return found
    place = str(given["apiVersion"]), str(given["kind"]), list(map(str, given["path"]))
    return {"fields": completions(state, *place)}


def _asked(ask: Callable[[State], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    return lambda given: ask(state_of(given))


_QUESTIONS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "state": _asked(lambda _: {}),
    "verdict": _asked(_DESK.verdict),
    "details": _asked(_DESK.details),
    "files": _files,
    "import": _imported,
    "complete": _completions,
}
