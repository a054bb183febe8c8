"""A finding about which nothing more is known than its rule, place and message."""

from __future__ import annotations

from celadon.admission.lint.findings import FieldPosition, Finding, Severity
from celadon.kube import FieldPath


def test_what_nobody_says_is_empty() -> None:
    finding = Finding("CEL001", FieldPosition(2), "m")
    assert (finding.help, finding.fix) == ("", None)
    assert finding.severity is Severity.WARNING
    assert (finding.spot.field, finding.spot.offset) == ("", None)


def test_a_spot_prints_its_field_as_the_server_does() -> None:
    assert FieldPosition(0, FieldPath("spec", "validations", 1)).field == "spec.validations[1]"
