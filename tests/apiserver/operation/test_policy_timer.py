"""What is counted of mutations: in an engine, and by a server."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.request_limits import InFlight, RequestLimits
from celadon.apiserver.operation.server_metrics import MutationTimer, ServerMetrics
from celadon.kube import StatusError
from celadon.kube.fieldmanager import MutatedKinds
from tests.admission.building import WORLD, request
from tests.admission.policies.mutating.altering import apply, engine, label, patch, policy
from tests.apiserver.asking import ask
from tests.apiserver.in_process import Running
from tests.apiserver.static_admission.manifests import labelling, rule

CHECKS = "apiserver_mutating_admission_policy_check_total"


def checks(*registered: Any) -> dict[tuple[str, ...], float]:
    """What one round counts; every reading of the clock is a second later."""
    metrics = ServerMetrics(InFlight(RequestLimits()), dict)
    clock = count()
    timer = MutationTimer(metrics, lambda: float(next(clock)))
    steps = engine(*registered).rounds(WORLD, MutatedKinds(), timer)
    with suppress(StatusError):
        steps.run(request(), 0)
    seconds = {labels: one.total for labels, one in metrics.mutation_check_seconds.values.items()}
    assert seconds == metrics.mutation_checks.values, "a second each"
    return metrics.mutation_checks.values


LARGE = "[1,2,3,4,5,6,7,8,9,10]"
NESTED = LARGE
for _ in range(6):
    NESTED = f"{LARGE}.map(x, {NESTED})"
ENDLESS = label("a", f"string(size({NESTED}))")


@pytest.mark.parametrize(
    ("mutation", "error_type"),
    [
        (label("a"), "no_error"),
        (patch("[JSONPatch{op: 'test', path: '/metadata/name', value: 'other'}]"), "no_error"),
        (apply("Objec{}"), "compile_error"),
        (ENDLESS, "invalid_error"),
        (label("a", "string(1/0)"), "invalid_error"),
        (apply("Object{nope: 1}"), "invalid_error"),
    ],
)
def test_each_mutation_is_counted(mutation: Any, error_type: str) -> None:
    counted = checks(policy("p", mutation, label("z"), failurePolicy="Ignore"))
    own, other = ("p", "p-b", error_type), ("p", "p-b", "no_error")
    assert counted == ({own: 2.0} if own == other else {own: 1.0, other: 1.0})


def test_what_ends_the_request_is_counted_too() -> None:
    spoils = patch("[JSONPatch{op: 'add', path: '/nope', value: 1}]")
    assert checks(policy("p", spoils, label("z"))) == {("p", "p-b", "invalid_error"): 1.0}


def test_what_is_not_evaluated_is_not_counted() -> None:
    condition = [{"name": "c", "expression": "1/0 == 1"}]
    assert checks(policy("p", label("a"), matchConditions=condition)) == {}


def test_a_server_shows_it() -> None:
    running = Running(Settings())
    try:
        group = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic"
        given, bound = labelling("p", rule("configmaps"), "a")
        assert ask(running, "POST", f"{group}ies", given).code == 201
        assert ask(running, "POST", f"{group}ybindings", bound).code == 201
        maps = "/api/v1/namespaces/default/configmaps"
        assert ask(running, "POST", maps, {"metadata": {"name": "m"}}).code == 201
        lines = ask(running, "GET", "/metrics").body.decode().splitlines()
    finally:
        running.close()
    assert f'{CHECKS}{{error_type="no_error",policy="p",policy_binding="p"}} 1' in lines
    seconds = "apiserver_admission_controller_admission_duration_seconds_count"
    named = 'name="MutatingAdmissionPolicy",operation="CREATE",rejected="false",type="admit"'
    assert f"{seconds}{{{named}}} 2" in lines, "two rounds"
