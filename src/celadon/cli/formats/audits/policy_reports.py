"""The audit as objects in a List, as JSON: a PolicyReport for each namespace, a ClusterPolicyReport
for what is in none (wgpolicyk8s.io/v1alpha2); or a Report and a ClusterReport, as what follows them
calls the same (openreports.io/v1alpha1).

Results are violations: `fail` where the object would be denied, `warn` where it would be warned
about or audited, `error` where a policy could not be evaluated. A List of them can be applied.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from celadon.cli.auditing.audit_findings import Violation
from celadon.cli.auditing.audit_report import AuditReport

API_VERSION: Final = "wgpolicyk8s.io/v1alpha2"
OPEN_API_VERSION: Final = "openreports.io/v1alpha1"
SOURCE: Final = "celadon"
_NAME: Final = "celadon-audit"
_SUMMED: Final = ("pass", "fail", "warn", "error", "skip")


def render(report: AuditReport) -> str:
    """The List of PolicyReports; without items if nothing is violated."""
    return _render(report, API_VERSION, "PolicyReport")


def render_open(report: AuditReport) -> str:
    """The List of Reports."""
    return _render(report, OPEN_API_VERSION, "Report")


def _render(report: AuditReport, api_version: str, kind: str) -> str:
    by_namespace: dict[str, list[Violation]] = {}
    for one in report.violations:
        by_namespace.setdefault(one.object.namespace, []).append(one)
    items = [
        {
            "apiVersion": api_version,
            "kind": kind if namespace else f"Cluster{kind}",
            **_report(namespace, by_namespace[namespace]),
        }
        for namespace in sorted(by_namespace)
    ]
    made = {"apiVersion": "v1", "kind": "List", "items": items}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _report(namespace: str, found: Sequence[Violation]) -> dict[str, Any]:
    counts = Counter(_result(one) for one in found)
    about = {"name": _NAME, "labels": {"app.kubernetes.io/managed-by": SOURCE}}
    return {
        "metadata": about | ({"namespace": namespace} if namespace else {}),
        "summary": {name: counts[name] for name in _SUMMED},
        "results": [_row(one) for one in found],
    }


def _result(one: Violation) -> str:
    if one.is_error:
        return "error"
    return "fail" if one.effect == "deny" else "warn"


def _row(one: Violation) -> dict[str, Any]:
    about = one.object
    reference = {
        "apiVersion": about.api_version,
        "kind": about.kind,
        "namespace": about.namespace,
        "name": about.name,
        "uid": about.uid,
        "resourceVersion": about.resource_version,
    }
    properties = {"binding": one.binding, "field": one.field, "param": one.param}
    return {
        "source": SOURCE,
        "policy": one.policy,
        "rule": one.field,
        "result": _result(one),
        "scored": True,
        "message": one.message,
        "resources": [{key: value for key, value in reference.items() if value}],
        "properties": {key: value for key, value in properties.items() if value},
    }
