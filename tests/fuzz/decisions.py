"""Whole decisions: `celadon check` beside an API server, on the same scenario.

What a user of the command is told must be what a client of the server is: refused or not, the
message, the causes of an invalid object in any order, warnings, and (of our server) the annotations
of the audit event. Where several policies deny, a server tells of one of them.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celadon.cli.main import main
from tests.fuzz.scenarios import ACTIONS, GROUP, Scenario, shrunk
from tests.fuzz.servers import Reply, Server

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = f"{POLICIES[:-3]}ybindings"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATIENT = 10
"""How often a server is asked again that is not as far yet."""
CHECK = ("check", "--as", "admin", "--as-group", "system:masters", "--dry-run", "-o", "json")


@dataclass(frozen=True, slots=True)
class Difference:
    """A scenario, made as small as it goes, and what differs in it."""

    scenario: Scenario
    details: str


@dataclass(frozen=True, slots=True)
class Decision:
    """About one object. `messages` are those of which a server sends one."""

    allowed: bool
    messages: frozenset[str]
    causes: frozenset[tuple[str, str, str]]
    warnings: frozenset[str]
    audit: dict[str, str] | None


def campaign(
    server: Server, make: Callable[[int], Scenario], seed: int, count: int
) -> Iterator[Difference | None]:
    """Of so many scenarios, one by one."""
    for number in range(seed, seed + count):
        scenario = make(number)
        details = difference(server, scenario)
        if not details:
            yield None
            continue
        what = details.partition(":")[0]

        def is_found(one: Scenario, what: str = what) -> bool:
            return difference(server, one).partition(":")[0] == what

        small = shrunk(scenario, is_found)
        yield Difference(small, difference(server, small))


def difference(server: Server, scenario: Scenario) -> str:
    """What the two do not agree on, for people to read; empty if they do."""
    if scenario.keys() != {"namespace", "policies", "definition", "objects"}:
        return ""
    if not scenario["objects"]:
        return ""
    try:
        manifests = _manifests(scenario)
    except (KeyError, TypeError, AttributeError):  # made too small to be a scenario
        return ""
    with _prepared(server, scenario, manifests) as refused:
        if refused is not None:
            return _about_refused(refused, manifests)
        path = _things(scenario)
        told = [_told(_posted(server, path, one, until_not=404)) for one in manifests["objects"]]
    ours = _checked(manifests)
    if len(ours) != len(told):
        return f"{len(told)} objects were sent, {len(ours)} judged"
    return next(filter(None, map(_compared, ours, told, manifests["objects"])), "")


def _posted(server: Server, path: str, obj: dict[str, Any], *, until_not: int) -> Reply:
    """The reply, later if need be: a definition is served some time after it was written (404), and
    a name is free some time after what had it was deleted (409)."""
    reply = server.call("POST", path, obj)
    for _ in range(_PATIENT):
        if reply.code != until_not:
            break
        server.settle()
        reply = server.call("POST", path, obj)
    return reply


def _compared(ours: Decision, theirs: Decision, obj: dict[str, Any]) -> str:
    name = obj["metadata"]["name"]
    if ours.allowed != theirs.allowed:
        return f"{name}: check {ours}, server {theirs}"
    if not ours.causes and theirs.messages and not theirs.messages <= ours.messages:
        return f"{name}: check says {sorted(ours.messages)}, the server {sorted(theirs.messages)}"
    if ours.causes != theirs.causes and (ours.causes or theirs.causes):
        return f"{name}: causes {sorted(ours.causes)}, the server's {sorted(theirs.causes)}"
    if ours.warnings != theirs.warnings:
        return f"{name}: warns {sorted(ours.warnings)}, the server {sorted(theirs.warnings)}"
    if theirs.audit is not None and ours.audit != theirs.audit:
        return f"{name}: audits {ours.audit}, the server {theirs.audit}"
    return ""


# --- the command ----------------------------------------------------------------------------------


def _manifests(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """The objects of a scenario, of its own group and in its namespace."""
    namespace, definition = scenario["namespace"], scenario["definition"]
    group = definition["spec"]["group"]
    policies, bindings = [], []
    for one in scenario["policies"]:
        if one["actions"] not in ACTIONS:
            raise KeyError("actions")
        metadata = {"name": one["name"]}
        kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": metadata}
        policies.append({**kind, "kind": "ValidatingAdmissionPolicy", "spec": one["spec"]})
        chosen = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        spec = {
            "policyName": one["name"],
            "validationActions": one["actions"],
            "matchResources": {"namespaceSelector": chosen},
        }
        bindings.append({**kind, "kind": "ValidatingAdmissionPolicyBinding", "spec": spec})
    found = [
        {
            **one,
            "apiVersion": one["apiVersion"].replace(GROUP, group),
            "metadata": {**one["metadata"], "namespace": namespace},
        }
        for one in scenario["objects"]
    ]
    labels = {"kubernetes.io/metadata.name": namespace}
    space = {"name": namespace, "labels": labels}
    return {
        "namespace": [{"apiVersion": "v1", "kind": "Namespace", "metadata": space}],
        "definition": [definition],
        "policies": policies,
        "bindings": bindings,
        "objects": found,
    }


def _report(manifests: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What `celadon check` says, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        cluster, objects = Path(folder, "cluster.json"), Path(folder, "objects.json")
        known = [one for part in manifests if part != "objects" for one in manifests[part]]
        for path, items in ((cluster, known), (objects, manifests["objects"])):
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        out, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            main([*CHECK, "-f", str(cluster), str(objects)])
    if not out.getvalue():
        return {"objects": [], "policyErrors": [], "problems": [told.getvalue()]}
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def _checked(manifests: dict[str, list[dict[str, Any]]]) -> list[Decision]:
    return [_judged(one) for one in _report(manifests)["objects"]]


def _judged(found: dict[str, Any]) -> Decision:
    denials = {
        f"ValidatingAdmissionPolicy '{one['policy']}' with binding '{one['binding']}' "
        f"denied request: {one['message']}"
        for one in found.get("violations", ())
        if "Deny" in one["validationActions"]
    }
    status = found.get("status") or {}
    return Decision(
        found["allowed"],
        frozenset(denials or {_denial(status.get("message") or "")} - {""}),
        _causes(status),
        frozenset(found.get("warnings", ())),
        found.get("auditAnnotations", {}),
    )


# --- the server -----------------------------------------------------------------------------------


def _told(reply: Reply) -> Decision:
    allowed = reply.code < 400
    message = "" if allowed else str(reply.body["message"])
    return Decision(
        allowed,
        frozenset({_denial(message)} - {""}),
        frozenset() if allowed else _causes(reply.body),
        frozenset(reply.warnings),
        None if reply.audit is None else _of_policies(reply.audit),
    )


def _denial(message: str) -> str:
    """Without what is denied."""
    _, found, denial = message.partition(" is forbidden: ")
    return denial if found else message


def _of_policies(audit: dict[str, str]) -> dict[str, str]:
    """Without what only a server knows, which is who may."""
    return {key: text for key, text in audit.items() if not key.startswith("authorization.")}


def _causes(status: dict[str, Any]) -> frozenset[tuple[str, str, str]]:
    """Of an invalid object; those of a denial are its message again."""
    causes = (status.get("details") or {}).get("causes") or ()
    return frozenset(
        (one["field"], one.get("reason", ""), one.get("message", ""))
        for one in causes
        if one.get("field")
    )


@contextlib.contextmanager
def _prepared(
    server: Server, scenario: Scenario, manifests: dict[str, list[dict[str, Any]]]
) -> Iterator[Reply | None]:
    """The server with all of the scenario but its objects, or the reply that refused a part."""
    made: list[str] = []
    parts = (
        ("namespace", "/api/v1/namespaces"),
        ("definition", DEFINITIONS),
        ("policies", POLICIES),
        ("bindings", BINDINGS),
    )
    refused = None
    try:
        for part, path in parts:
            for one in manifests[part]:
                reply = _posted(server, path, one, until_not=409)
                if reply.code >= 400:
                    refused = reply
                    break
                made.append(f"{path}/{one['metadata']['name']}")
        if refused is None:
            server.settle()
        yield refused
    finally:
        for path in reversed(made):
            server.call("DELETE", path)
        server.settle()


def _things(scenario: Scenario) -> str:
    spec = scenario["definition"]["spec"]
    place = f"/apis/{spec['group']}/v1/namespaces/{scenario['namespace']}"
    return f"{place}/{spec['names']['plural']}?dryRun=All"


def _about_refused(refused: Reply, manifests: dict[str, list[dict[str, Any]]]) -> str:
    """What the server does not take, the command must not take either."""
    if refused.code not in (400, 422):  # it is not about the scenario
        return f"the server answers {refused.code}: {refused.body['message']}"
    report = _report(manifests)
    complaints = [*report["policyErrors"], *report["problems"]]
    complaints += [one for one in report["objects"] if not one["allowed"]]
    return "" if complaints else f"only the server refuses: {refused.body['message']}"
