"""What Prometheus reads."""

from __future__ import annotations

import re

import pytest

from celadon.apiserver.operation import exposition
from celadon.kube import StatusError
from celadon.webhook.review_decisions import Decider, SourceState
from celadon.webhook.service.webhook_metrics import TIMED_EVERY, WebhookMetrics
from tests.admission.building import request
from tests.admission.policies.mutating.altering import label, policy, rounds
from tests.paths import ROOT
from tests.webhook.service.running import FixedSource, rulebook


def metrics(source: FixedSource | None = None) -> WebhookMetrics:
    return WebhookMetrics(source or FixedSource(rulebook()), lambda: 3, lambda: 1000.0)


def shown(given: WebhookMetrics) -> list[str]:
    lines = exposition(given.families()).splitlines()
    return [one for one in lines if not one.startswith(("#", "process_"))]


def test_the_state_of_the_source() -> None:
    state = SourceState(
        problems=("x",), loads=2, failed_loads=1, loaded_at=5.0, cache_ages={"pods": 1.5}
    )
    assert shown(metrics(FixedSource(rulebook(), state))) == [
        'celadon_webhook_cache_age_seconds{cache="pods"} 1.5',
        'celadon_webhook_policies{kind="binding"} 1',
        'celadon_webhook_policies{kind="policy"} 1',
        "celadon_webhook_policies_loaded_timestamp_seconds 5",
        "celadon_webhook_policies_outdated 1",
        'celadon_webhook_policy_loads_total{result="failure"} 1',
        'celadon_webhook_policy_loads_total{result="success"} 2',
        "celadon_webhook_certificate_expiry_timestamp_seconds 1000",
        "celadon_webhook_in_flight_reviews 3",
    ]
    without = shown(WebhookMetrics(FixedSource(None), lambda: 0, None))
    for kind in ("policy", "binding"):
        assert f'celadon_webhook_policies{{kind="{kind}"}} 0' in without
    assert not [one for one in without if "certificate" in one]


def test_what_is_said_of_each_metric(request: pytest.FixtureRequest) -> None:
    """`tests/cases/webhook_metrics.txt`, rewritten by `pytest --update-golden`."""
    state = SourceState(cache_ages={"pods": 1.5})
    given = metrics(FixedSource(rulebook(), state))
    given.errors.add(("p",))
    given.decisions.add(("p", "b", "deny"))
    given.mutations.add(("p", "b", "applied"))
    given.would_deny.add(())
    given.timed([("p", 0.1)])
    given.reviews.reviewed("/validate", "CREATE", allowed=True, seconds=0.1)
    given.reviews.not_answered("/validate", "busy", 429)
    lines = exposition(given.families()).splitlines()
    of_its_own = [one for one in lines if one.startswith("# ") and " process_" not in one]
    found = "".join(f"{line}\n" for line in of_its_own)
    path = ROOT / "tests" / "cases" / "webhook_metrics.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def test_reviews_are_counted_by_what_came_out() -> None:
    given = metrics()
    for _ in range(2):
        given.reviews.reviewed("/validate", "CREATE", allowed=True, seconds=0.0002)
    given.reviews.reviewed("/validate", "DELETE", allowed=False, seconds=0.3)
    given.reviews.not_answered("/validate", "busy", 429)
    lines = shown(given)
    for line in (
        'celadon_webhook_review_duration_seconds_bucket{allowed="true",operation="CREATE",'
        'path="/validate",le="0.00025"} 2',
        'celadon_webhook_review_duration_seconds_count{allowed="false",operation="DELETE",'
        'path="/validate"} 1',
        'celadon_webhook_http_requests_total{code="200",path="/validate"} 3',
        'celadon_webhook_http_requests_total{code="429",path="/validate"} 1',
        'celadon_webhook_unanswered_reviews_total{path="/validate",reason="busy"} 1',
    ):
        assert line in lines


def test_findings_are_counted_by_policy() -> None:
    given = metrics()
    failing = rulebook(validations=[{"expression": "1/0 == 1"}])
    for rules in (rulebook(), failing, failing):
        decider = Decider(request(), rules)
        decider.verdict()
        given.found(decider.findings)
    lines = shown(given)
    counted = 'celadon_webhook_policy_decisions_total{action="deny",binding="b",policy="p"} 3'
    assert counted in lines
    assert 'celadon_webhook_policy_errors_total{policy="p"} 2' in lines


def test_mutations_are_counted_by_what_became_of_them() -> None:
    given = metrics()
    fails = label("b", "string(1/0)")
    registered = [policy("good", label("a"), label("b")), policy("bad", fails, label("c"))]
    registered.append(policy("calm", fails, failurePolicy="Ignore"))
    steps = rounds(*registered)
    with pytest.raises(StatusError):
        steps.run(request(), 0)
    given.mutated(steps.notes)
    lines = shown(given)
    total = "celadon_webhook_policy_mutations_total"
    assert [line.removeprefix(total) for line in lines if line.startswith(total)] == [
        '{binding="bad-b",policy="bad",result="applied"} 1',
        '{binding="bad-b",policy="bad",result="failed"} 1',
        '{binding="calm-b",policy="calm",result="ignored"} 1',
        '{binding="good-b",policy="good",result="applied"} 2',
    ]
    assert 'celadon_webhook_policy_errors_total{policy="calm"} 1' in lines


def test_one_review_in_many_is_timed() -> None:
    given = metrics()
    chosen = [given.is_timed() for _ in range(2 * TIMED_EVERY)]
    assert chosen.count(True) == 2
    decider = Decider(request(), rulebook(), timed=True)
    decider.verdict()
    decider.verdict()
    given.timed(decider.times)
    assert 'celadon_webhook_policy_duration_seconds_count{policy="p"} 1' in shown(given)


def test_into_which_times_metrics_are_cut() -> None:
    given = metrics()
    given.timed([("p", 0.1)])
    given.reviews.reviewed("/validate", "CREATE", allowed=True, seconds=0.1)
    text = exposition(given.families())

    def bounds(name: str) -> list[str]:
        return re.findall(rf'celadon_webhook_{name}_duration_seconds_bucket{{.*le="(.+)"}}', text)

    reviews = "0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10"
    assert bounds("review") == [*reviews.split(), "+Inf"]
    policies = "1e-06 5e-06 1e-05 5e-05 0.0001 0.0005 0.001 0.005 0.01 0.1 1"
    assert bounds("policy") == [*policies.split(), "+Inf"]
