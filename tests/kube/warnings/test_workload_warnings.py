"""Kinds that make pods from a template."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import warnings as warned

ALIAS = {"ip": "1.1.1.1"}
TEMPLATE = {"spec": {"hostAliases": [ALIAS, ALIAS]}}
SAID = 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'


def obj(generation: int = 1, name: str = "x", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "generation": generation}, "spec": spec}


@pytest.mark.parametrize(
    ("warn", "spec", "path"),
    [
        (warned.controller_warnings, {"template": TEMPLATE}, "spec.template."),
        (warned.daemon_set_warnings, {"template": TEMPLATE}, "spec.template."),
        (warned.stateful_set_warnings, {"template": TEMPLATE}, "spec.template."),
        (warned.job_warnings, {"template": TEMPLATE}, "spec.template."),
        (
            warned.cron_job_warnings,
            {"jobTemplate": {"spec": {"template": TEMPLATE}}},
            "spec.jobTemplate.spec.template.",
        ),
    ],
)
def test_templates_of_what_is_new(warn: Any, spec: dict[str, Any], path: str) -> None:
    assert list(warn(obj(**spec), None)) == [path + SAID]
    assert list(warn(obj(2, **spec), obj(1))) == [path + SAID]
    assert list(warn(obj(1, **spec), obj(1))) == []


@pytest.mark.parametrize(
    ("warn", "says"),
    [
        (warned.controller_warnings, True),
        (warned.job_warnings, True),
        (warned.cron_job_warnings, True),
        (warned.daemon_set_warnings, False),
        (warned.stateful_set_warnings, False),
    ],
)
def test_names_of_pods(warn: Any, says: bool) -> None:
    text = (
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
        "behavior; a DNS label is recommended: [must not contain dots]"
    )
    assert list(warn(obj(name="a.b"), None)) == ([text] if says else [])
    assert list(warn(obj(2, name="a.b"), obj(name="a.b"))) == []


def test_a_pod_template() -> None:
    new, old = ({**obj(generation), "template": TEMPLATE} for generation in (2, 1))
    assert list(warned.pod_template_warnings(new, None)) == [f"template.{SAID}"]
    assert list(warned.pod_template_warnings(new, old)) == [f"template.{SAID}"]
    assert list(warned.pod_template_warnings(new, new)) == []


def test_a_changed_replication_controller_warns_about_the_template_it_had() -> None:
    warn = warned.replication_controller_warnings
    bad, good = obj(1, template=TEMPLATE), obj(2, template={"spec": {}})
    assert list(warn(bad, None)) == [f"spec.template.{SAID}"]
    assert list(warn(good, bad)) == [f"spec.template.{SAID}"]
    assert list(warn(bad, good)) == []
    assert list(warn(bad, bad)) == []


def test_claims_of_a_stateful_set() -> None:
    claim = {"spec": {"resources": {"limits": {"storage": "1m"}}}}
    made = obj(volumeClaimTemplates=[claim], revisionHistoryLimit=-1)
    tail = 'resources.limits[storage]: fractional byte value "1m" is invalid, must be an integer'
    history = (
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= "
        "0 is recommended"
    )
    new = list(warned.stateful_set_warnings(made, None))
    assert new == [f"spec.volumeClaimTemplates[0].{tail}", history]
    changed = list(warned.stateful_set_warnings(made, made))
    assert changed == [f"spec.volumeClaimTemplates[0].Spec.{tail}", history]


def test_jobs_with_many_pods() -> None:
    made = obj(completionMode="Indexed", completions=100_001, parallelism=10_001)
    (text,) = warned.job_warnings(made, None)
    assert text.startswith("spec: In Indexed Jobs with a number of completions higher than 10^5")
    few = obj(completionMode="Indexed", completions=100_000, parallelism=10_001)
    assert not list(warned.job_warnings(few, None))


def test_a_zone_in_an_old_schedule() -> None:
    made = obj(schedule="TZ=UTC 0 0 * * *")
    assert not list(warned.cron_job_warnings(made, None))
    (text,) = warned.cron_job_warnings(made, made)
    assert text.startswith("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead")
