"""What a webhook says about itself."""

from __future__ import annotations

import dataclasses

from celadon.apiserver.operation import Description, Gauge
from celadon.webhook.review_decisions import SourceState
from tests.webhook.service.running import SETTINGS, FixedSource, answering, rulebook


def test_pages() -> None:
    with answering(FixedSource(rulebook())) as client:
        assert client.said("/healthz") == (200, "ok\n")
        assert client.said("/livez") == (200, "ok\n")
        assert client.said("/readyz") == (200, "ok\n")
        assert client.said("/readyz?verbose") == (
            200,
            "[+]policies ok (1)\n[+]shutdown ok\nreadyz check passed\n",
        )
        refused = (405, "method not allowed: POST an AdmissionReview\n")
        assert client.said("/validate") == client.said("/mutate") == refused
        assert client.said("/metrics", b"") == (405, "method not allowed\n")
        assert client.sent("HEAD", "/livez", None, {})[0] == 200
        listed = "/validate, /mutate, /healthz, /livez, /readyz, /metrics"
        assert client.said("/else") == (404, f"not found; there are {listed}\n")


def test_a_source_that_waits_is_not_ready() -> None:
    source = FixedSource(None, SourceState(missing=("its files",)))
    with answering(source) as client:
        code, text = client.said("/readyz")
        assert code == 503
        assert text.startswith("[-]policies waiting for its files\n")
        source.rules, source.now = rulebook(), SourceState()
        assert client.said("/readyz") == (200, "ok\n")


def test_an_outdated_source_is_ready_and_says_so() -> None:
    with answering(FixedSource(rulebook(), SourceState(problems=("p.yaml:3: no",)))) as client:
        assert client.said("/readyz") == (200, "ok\n")
        text = client.said("/readyz?verbose")[1]
        assert "[+]policies ok, of an earlier version: p.yaml:3: no\n" in text
        assert "celadon_webhook_policies_outdated 1\n" in client.said("/metrics")[1]


def test_what_only_some_reviews_fail_for_is_said() -> None:
    with answering(FixedSource(rulebook(), SourceState(remarks=("no params",)))) as client:
        assert client.said("/readyz") == (200, "ok\n")
        assert "[+]policies: no params\n[+]policies ok" in client.said("/readyz?verbose")[1]


def test_others_may_be_waited_for() -> None:
    missing = ["a certificate"]
    settings = dataclasses.replace(SETTINGS, waits_for=(lambda: missing[0], lambda: ""))
    with answering(FixedSource(rulebook()), settings) as client:
        code, text = client.said("/readyz")
        assert (code, "[-]waiting for a certificate\n" in text) == (503, True)
        missing[0] = ""
        assert client.said("/readyz") == (200, "ok\n")


def test_remarks_and_figures_of_others_are_shown() -> None:
    figure = Gauge(Description("bundles", "How many."), lambda: {(): 3})
    settings = dataclasses.replace(
        SETTINGS, remarks=(lambda: ["there is no `a`", "nor `b`"],), families=(figure,)
    )
    with answering(FixedSource(rulebook()), settings) as client:
        assert client.said("/readyz") == (200, "ok\n")
        text = client.said("/readyz?verbose")[1]
        assert "[+]ready, but there is no `a`\n[+]ready, but nor `b`\n" in text
        assert "\nbundles 3\n" in client.said("/metrics")[1]


def test_the_end_is_told_beforehand() -> None:
    settings = dataclasses.replace(SETTINGS, shutdown_delay=30.0)
    with answering(FixedSource(rulebook()), settings) as client:
        client.is_ending = True
        code, text = client.said("/readyz")
        assert code == 503
        assert "[-]shutdown in progress\nreadyz check failed\n" in text
        assert client.said("/healthz") == (200, "ok\n")
