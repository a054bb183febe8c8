"""A simulation for programs: one JSON document."""

from __future__ import annotations

import json
from typing import Any

from celadon.cli.bootstrapping.bootstrap_report import BootstrapReport, Lock
from celadon.cli.bootstrapping.bootstrap_run import Refusal, Sent
from celadon.cli.bootstrapping.step_tables import State
from celadon.cli.formats.check_data import (
    API_VERSION,
    filled,
    notice_data,
    place_data,
    policy_error_data,
    problem_data,
)


def render_json(report: BootstrapReport) -> str:
    """Two spaces of indentation, text as it is."""
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def document(report: BootstrapReport) -> dict[str, Any]:
    """The report as plain data; empty members are left out below the top."""
    return {
        "apiVersion": API_VERSION,
        "kind": "BootstrapReport",
        "summary": {
            "verdict": report.level.word,
            "requests": report.requests,
            "refused": report.refused,
            "policies": report.policies,
            "bindings": report.bindings,
            "webhooks": report.webhooks,
            "exitCode": int(report.exit),
        },
        "locks": [_lock(one) for one in report.locks],
        "policyErrors": [policy_error_data(error) for error in report.policy_errors],
        "notices": [notice_data(notice) for notice in report.notices],
        "problems": [problem_data(problem) for problem in report.problems],
    }


def _lock(one: Lock) -> dict[str, Any]:
    chain = one.chain
    culprit = chain.culprit
    return {
        "level": one.level.word,
        "culprit": filled(kind=culprit.kind, name=culprit.name, binding=culprit.binding)
        | filled(rule=place_data(chain.refusal.place)),
        "request": _request(chain.sent, chain.refusal),
        "states": [_state(state) for state in chain.states],
        "cycle": chain.cycle,
        "onlyIfMadeAnew": chain.once,
        "repair": {
            "open": one.repair.is_open,
            "steps": [
                {"command": step.command, "admitted": step.admitted} | filled(message=step.message)
                for step in one.repair.steps
            ],
        },
        "otherRequests": [_request(sent, None) for sent in chain.others],
        "otherStates": [_state(state) for state in chain.also],
    }


def _request(sent: Sent, refusal: Refusal | None) -> dict[str, Any]:
    sending = sent.sending
    return filled(
        step=sending.name,
        request=sent.title,
        operation=sending.operation.value,
        user=sending.actor.user.name,
        groups=list(sending.actor.user.groups),
    ) | (filled(message=refusal.message, breaks=refusal.breaks or None) if refusal else {})


def _state(state: State) -> dict[str, Any]:
    return {"name": state.name, "otherwise": state.otherwise, "level": state.level.word}
