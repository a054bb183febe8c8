"""A state of the playground to all that its page shows.

    desk = Desk()
    desk.verdict(state)     what becomes of the request: on every keystroke
    desk.details(state)     why, and what else is to be said: a moment later
    decide(given)           both at once, from JSON to JSON

Everything is decided on the way of `celadon check`, whose report a verdict has. A desk remembers
what panes said and what was compiled, so a keystroke costs what it has changed; its answers do not
depend on what it was asked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from celadon.admission import Operation
from celadon.cli.checking.check_report import ObjectResult, Report
from celadon.cli.checking.check_report import State as ObjectState
from celadon.cli.checking.check_run import check
from celadon.cli.checking.given.check_inputs import CheckInputs
from celadon.cli.checking.judging.object_judging import Settings
from celadon.cli.checking.manifests import described
from celadon.cli.checking.questions import Question
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.formats.check_data import document
from celadon.cli.playing.kept_policies import KeptPolicies
from celadon.cli.playing.mode_subjects import wrong_subject
from celadon.cli.playing.pane_reading import PaneReader
from celadon.cli.playing.playground_states import Mode, Pane, State, state_of
from celadon.cli.policy_tests.policy_test import DEFAULT_NOW
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import Json, User, metadata

if TYPE_CHECKING:
    from celadon.cli.checking.policy_set import PolicySet
    from celadon.cli.playing.policy_remarks import PolicyRemarks

_AROUND: Final = (
    Pane.POLICY,
    Pane.BINDING,
    Pane.PARAMS,
    Pane.NAMESPACE,
    Pane.CLUSTER,
    Pane.AUTHORIZER,
)
"""Panes whose objects exist when the request comes."""


def decide(given: Json) -> dict[str, Any]:
    """All that is to be said of a state. Raises StateError."""
    desk, state = Desk(), state_of(given)
    return {**desk.verdict(state), "details": desk.details(state)}


class Desk:
    """Where states are decided, one after the other."""

    def __init__(self) -> None:
        self._panes = PaneReader()
        self._policies = KeptPolicies()
        self._remarks: PolicyRemarks | None = None

    def verdict(self, state: State) -> dict[str, Any]:
        """What a server would say: `report` is that of `celadon check -o json`. In the mode of
        expressions, the value."""
        if state.mode is Mode.EXPRESSION:
            # late: as what explains requests, below
            from celadon.cli.playing.bare_expressions import expression_verdict

            return expression_verdict(state, self._panes)
        inputs = self.inputs(state)
        if isinstance(inputs, Problem):
            return {"report": document(Report(problems=(inputs,)))}
        return {"report": document(_said(check(inputs, _untold, None, self._policies.makers)))}

    def details(self, state: State) -> dict[str, Any]:
        """Why, what lint says, and what another release would say."""
        if state.mode is Mode.EXPRESSION:
            # late: as what explains requests, below
            from celadon.cli.playing.bare_expressions import expression_details

            return self._with_changes(state, expression_details(state, self._panes))
        inputs = self.inputs(state)
        if isinstance(inputs, Problem):
            return {}
        # late: the first verdict does not wait for what explains it
        from celadon.cli.explaining.explained_objects import explained_objects
        from celadon.cli.playing.request_details import request_details

        _, found = explained_objects(inputs, lambda *_: True, _untold, self._policies.makers)
        around = self._panes.documents(state, _AROUND)
        heard = [one for one in found if not _is_silent(one.result)]
        told = {} if inputs.manifests.problems else request_details(heard)
        told |= self._remarks_of(state, around, inputs.policies.validating)
        return self._with_changes(state, told)

    def _remarks_of(
        self, state: State, documents: Sequence[Document], policies: PolicySet
    ) -> dict[str, Any]:
        from celadon.cli.playing.policy_remarks import PolicyRemarks  # late: as above

        if self._remarks is None:
            self._remarks = PolicyRemarks()
        return self._remarks.of(state, documents, policies)

    def _with_changes(self, state: State, told: dict[str, Any]) -> dict[str, Any]:
        other = state.compared
        if not other or other == state.release:
            return told
        from celadon.cli.playing.release_changes import release_changes  # late: few compare

        there = self.verdict(replace(state, release=other))
        changes = release_changes(state.release, other, self.verdict(state), there)
        return {**told, "changes": changes}

    def _unaskable(self, state: State) -> Problem | None:
        policies = self._panes.documents(state, [Pane.POLICY])
        return _incomplete(state) or wrong_subject(state.mode, policies)

    def inputs(self, state: State) -> CheckInputs | Problem:
        """What `celadon check` would be given; a problem for what cannot be asked."""
        user = self._panes.user(state)
        wrong = user if isinstance(user, Problem) else self._unaskable(state)
        if wrong is not None:
            return wrong
        assert not isinstance(user, Problem), "it would be what is wrong"
        around = self._panes.documents(state, _AROUND)
        objects = self._panes.documents(state, [Pane.OBJECT])
        old = self._panes.documents(state, [Pane.OLD_OBJECT])
        if state.operation is Operation.DELETE:
            objects, old = old or objects, ()
        manifests = described(around, objects, old)
        for pane in (*_AROUND, Pane.OBJECT, Pane.OLD_OBJECT):
            manifests.problems += self._panes.read(state, pane).problems
        sets = self._policies.sets(manifests, state.release)
        namespaces = self._panes.documents(state, [Pane.NAMESPACE])
        return CheckInputs(manifests, sets, _settings(state, user, namespaces))


def _untold(_: int) -> None:
    """Nobody counts."""


def _said(report: Report) -> Report:
    """Without a word on the object as long as something cannot be read or used: who reads that it
    were admitted would take it for the answer. Nor on what controllers would create, if nobody has
    a say in it."""
    if report.problems or report.policy_errors:
        return replace(report, objects=())
    return replace(report, objects=tuple(one for one in report.objects if not _is_silent(one)))


def _is_silent(result: ObjectResult) -> bool:
    """Whether it is about what a controller would create, and nobody looked at that."""
    return (
        result.created_by is not None
        and result.state is ObjectState.UNTOUCHED
        and not result.warnings
    )


def _incomplete(state: State) -> Problem | None:
    if state.operation is Operation.UPDATE and not state.text(Pane.OLD_OBJECT).strip():
        text = "an UPDATE needs the object as it is now"
        return Problem(Pane.OLD_OBJECT.value, 1, text, "put it into the pane `oldObject`")
    if state.operation is Operation.CONNECT and not state.subresource:
        text = "a CONNECT needs a subresource, for instance exec"
        return Problem(Pane.OBJECT.value, 1, text)
    return None


def _settings(state: State, user: User, namespaces: Sequence[Document]) -> Settings:
    """What controllers would create is judged where objects are about the server's own kinds."""
    names = [metadata.name(one.value) for one in namespaces]
    question = Question(
        state.operation,
        subresource=state.subresource,
        namespace=names[0] if names else "default",
        user=user,
        dry_run=state.dry_run,
        field_validation=state.field_validation,
    )
    creates = state.mode is not Mode.RULES
    return Settings(
        question, state.release, DEFAULT_NOW, jobs=1, plugins=PluginChoice(), creates=creates
    )
