"""What the old engine has said of what exists: reports that Kyverno writes (PolicyReport), and the
status in which Gatekeeper's audit leaves violations. Shown beside what the translation says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from celadon.kube import JsonObject
from celadon.migrate import is_constraint

Key = tuple[str, str, str]
"""The kind, namespace and name of an object."""

_REFUSED: Final = ("fail", "warn")
"""Results of reports: `warn` is a failure of a policy that is not scored."""
_ADMITTED: Final = ("pass", "skip")


@dataclass(slots=True)
class OldVerdicts:
    """The objects that a rule refused, and those that it let pass."""

    refused: set[Key] = field(default_factory=set)
    admitted: set[Key] = field(default_factory=set)
    is_whole: bool = False
    """Whether it let everything pass that is not among the refused."""

    @property
    def count(self) -> int:
        """Of how many objects something was said."""
        return len(self.refused | self.admitted)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An object of which the old engine has said something else."""

    object: Key
    theirs: str
    """`refused` or `admitted`."""
    message: str
    """Why the translation refuses it; empty if it does not."""

    @property
    def title(self) -> str:
        """`Deployment shop/web`."""
        kind, namespace, name = self.object
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def disagreements(old: OldVerdicts, refused: Mapping[Key, str]) -> list[Disagreement]:
    """Return where the translation, which refuses some objects with a message, says something
    else."""
    found = [Disagreement(one, "refused", "") for one in sorted(old.refused - refused.keys())]
    found += [
        Disagreement(one, "admitted", message)
        for one, message in sorted(refused.items())
        if one not in old.refused and (old.is_whole or one in old.admitted)
    ]
    return found


class KyvernoReports:
    """Verdicts by policy and rule, as reports have them."""

    def __init__(self) -> None:
        self._verdicts: dict[tuple[str, str, str], OldVerdicts] = {}

    def note(self, report: JsonObject) -> None:
        """Take in a report; what has another shape says nothing."""
        for result in _mappings(report.get("results")):
            source = str(result.get("source", "kyverno")).lower()
            if not source.startswith("kyverno"):
                continue
            language = "cel" if source.endswith("policy") else ""
            rule = "" if language else _own_rule(str(result.get("rule", "")))
            key = language, str(result.get("policy", "")), rule
            verdicts = self._verdicts.setdefault(key, OldVerdicts())
            for one in _subjects(report, result):
                if result.get("result") in _REFUSED:
                    verdicts.refused.add(one)
                elif result.get("result") in _ADMITTED:
                    verdicts.admitted.add(one)

    def of(self, policy: JsonObject, rule: str) -> OldVerdicts | None:
        """Return what was said by a rule of a policy; without a rule, by one in CEL."""
        about = policy["metadata"]
        name = f"{about['namespace']}/{about['name']}" if about.get("namespace") else about["name"]
        return self._verdicts.get(("" if rule else "cel", name, rule))


def _own_rule(name: str) -> str:
    """Return the rule that one for controllers of Pods was made from."""
    for prefix in ("autogen-cronjob-", "autogen-"):
        name = name.removeprefix(prefix)
    return name


def _subjects(report: JsonObject, result: JsonObject) -> Iterator[Key]:
    named = [*_mappings(result.get("resources")), *_mappings(result.get("subjects"))]
    for one in named or _mappings([report.get("scope")]):
        yield _key(one)


def _mappings(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _key(reference: JsonObject) -> Key:
    kind, namespace, name = (str(reference.get(one) or "") for one in ("kind", "namespace", "name"))
    return kind, namespace, name


def gatekeeper_verdicts(constraint: JsonObject) -> OldVerdicts | None:
    """Return what Gatekeeper's audit has left in the status of a constraint; None where it has not
    looked. It names the first violations only, and says how many there are."""
    status = constraint.get("status")
    if not is_constraint(constraint) or not isinstance(status, Mapping):
        return None
    total = status.get("totalViolations")
    if not isinstance(total, int):
        return None
    named = _mappings(status.get("violations"))
    return OldVerdicts({_key(one) for one in named}, is_whole=len(named) == total)
