"""What is to be said of policies whatever the request is: lint's findings, the status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.admission import TypeChecker
from celadon.admission.lint import RULES, Settings
from celadon.cli.checking.policy_set import PolicySet, validating_policies
from celadon.cli.linting.lint_run import LintInput, LintSetup, findings
from celadon.cli.playing.pane_reading import is_definition
from celadon.cli.playing.playground_states import Pane, State
from celadon.cli.reading.documents import Document
from celadon.cli.reading.sources import Text
from celadon.cli.report.lint_view import finding_data
from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import known_resources
from celadon.kube.schemas import Schema, custom_schemas


class PolicyRemarks:
    """Remembers what it said last: it takes longer than a verdict, and few keystrokes change it."""

    def __init__(self) -> None:
        self._asked: tuple[str, Sequence[Document]] = ("", ())
        self._said: dict[str, Any] | None = None

    def of(
        self, state: State, documents: Sequence[Document], policies: PolicySet
    ) -> dict[str, Any]:
        """About the documents of the panes around a request."""
        release, known = self._asked
        same = release == state.release and list(map(id, known)) == list(map(id, documents))
        if self._said is None or not same:
            self._asked = state.release, documents
            self._said = {
                "lint": _lint(documents, state),
                "typeChecking": _statuses(documents, policies, state.release),
            }
        return self._said


def _lint(documents: Sequence[Document], state: State) -> list[dict[str, Any]]:
    """As `celadon lint -o json` says it, with panes for files."""
    names = {one.file for one in documents}
    texts = {name: Text(name, state.text(Pane(name))) for name in names}
    given = LintInput(texts, list(documents), [])
    shown, _ = findings(given, LintSetup(Settings(state.release), RULES))
    return [finding_data(one.located) for one in shown]


def _statuses(
    documents: Sequence[Document], policies: PolicySet, release: str
) -> list[dict[str, Any]]:
    """The status that the API server's controller gives each policy; its types are numbered from
    0."""
    definitions = [one.value for one in documents if is_definition(one)]
    custom: dict[GroupVersionKind, Schema] = {}
    for definition in definitions:
        custom.update(custom_schemas(definition))
    checker = TypeChecker(known_resources().with_crds(definitions), custom, release)
    return [
        {"policy": one.name, "status": checker.status(one, 0)}
        for one in validating_policies(policies)
    ]
