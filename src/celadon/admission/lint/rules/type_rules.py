"""CEL010 to CEL019: expressions and rules that do not fit the kinds they are about."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Final

from celadon.admission.lint.findings import PolicyExpression, Severity, Spot
from celadon.admission.lint.lint_rule import Report, Rule, at_offset
from celadon.admission.lint.subjects import Bundle, PolicyCase
from celadon.admission.registration.registration_types import Rule as ResourceRule
from celadon.cel import Issue
from celadon.cel.syntax import (
    EQUALS,
    IN,
    NOT_EQUALS,
    Call,
    Expr,
)
from celadon.kube import FieldPath, GroupVersionKind

_MOST_SHOWN: Final = 3
_BUILT_IN_SUFFIX: Final = ".k8s.io"


def _type_errors(bundle: Bundle) -> Iterator[Report]:
    for case, mistake in bundle.mistakes:
        if not is_comparison(mistake.node):
            yield Report(
                at_offset(case.document, mistake.expression, mistake.issue.offset),
                f"{mistake.issue.message}{_for_kinds(case, mistake.kinds)}",
            )


def is_comparison(node: Expr | None) -> bool:
    """At run time, values of different types are unequal, which is no error."""
    return node.__class__ is Call and node.function in (EQUALS, NOT_EQUALS, IN)


def _for_kinds(case: PolicyCase, kinds: tuple[GroupVersionKind, ...]) -> str:
    if len(kinds) == len(case.kinds) > 1:
        return ", for every kind that the policy matches"
    names = list(dict.fromkeys(kind.kind for kind in kinds))
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return f", for {', '.join(names[:_MOST_SHOWN])}{more}"


def _status_warnings(bundle: Bundle) -> Iterator[Report]:
    """Yield what the status controller will say, unless it is true, too."""
    true = {
        (case.document, mistake.expression.path, mistake.issue.offset)
        for case, mistake in bundle.mistakes
    }
    expressions = {
        (case.document, one.path): one for case in bundle.policies for one in case.expressions
    }
    seen = set()
    for case, problem in bundle.problems:
        expression = expressions[case.document, problem.path]
        if expression.checked is None:
            continue
        for issue in problem.issues:
            key = (case.document, problem.path, issue.offset)
            if key not in true and key not in seen:
                seen.add(key)
                yield _status_warning(case, expression, problem.kind, issue)


def _status_warning(
    case: PolicyCase,
    expression: PolicyExpression,
    kind: GroupVersionKind,
    issue: Issue,
) -> Report:
    shown = issue.message.replace(f"{kind.kind}0", kind.kind)
    return Report(
        at_offset(case.document, expression, issue.offset),
        f"`status.typeChecking` will warn about {kind.kind}: {shown}",
        "the expression works all the same: the published schema is not what the data is",
    )


def _unknown_resources(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        match = case.spec.match_constraints
        for i, rule in enumerate(() if match is None else match.resource_rules):
            for j, resource in enumerate(rule.resources):
                problem = _unknown_resource(bundle, rule, resource)
                if problem is not None:
                    at = FieldPath("spec", "matchConstraints", "resourceRules", i, "resources", j)
                    message, help = problem
                    yield Report(Spot(case.document, at), message, help)


def _unknown_resource(bundle: Bundle, rule: ResourceRule, entry: str) -> tuple[str, str] | None:
    resource, _, below = entry.partition("/")
    if "*" in (resource, *rule.api_groups, *rule.api_versions) or not resource:
        return None
    if any(_is_foreign(bundle, group) for group in rule.api_groups):
        return None
    named = [
        one
        for one in bundle.catalog
        if one.gvr.group in rule.api_groups and one.gvr.version in rule.api_versions
    ]
    found = [one for one in named if one.gvr.resource == resource]
    if not found:
        where = ", ".join(f"{g or 'core'}/{v}" for g in rule.api_groups for v in rule.api_versions)
        help = _nearest(resource, [one.gvr.resource for one in named])
        return f"there is no resource `{resource}` in {where}, so this matches nothing", help
    names = [one.name for owner in found for one in owner.subresources]
    if below and below != "*" and below not in names:
        return f"`{resource}` has no subresource `{below}`", _nearest(below, names)
    return None


def _is_foreign(bundle: Bundle, group: str) -> bool:
    """A group that may be a CRD's or an aggregated server's."""
    if any(one.gvr.group == group for one in bundle.catalog):
        return False
    return "." in group and not group.endswith(_BUILT_IN_SUFFIX)


def _nearest(word: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), sorted(set(names)), n=1)
    return f"did you mean `{close[0]}`?" if close else ""


RULES: Final = (
    Rule(
        "CEL010",
        "status-warning",
        Severity.INFO,
        "The API server's own type check will report this in `status.typeChecking`, although the "
        "expression works: it sees published schemas, in which quantities, preserved fields and "
        "integral numbers look different from the data. Nothing has to be done; `dyn(...)` around "
        "the operand keeps the status clean.",
        'validations:\n- expression: "object.spec.template.spec.containers.all(c, '
        "!has(c.resources.limits) || 'cpu' in c.resources.limits)\"\n",
        "validations:\n- expression: object.spec.replicas <= 5\n",
        _status_warnings,
    ),
    Rule(
        "CEL011",
        "type-error",
        Severity.ERROR,
        "The expression does not fit the objects it will meet: the field does not exist, or the "
        "function does not take what it gets. It fails whenever it gets so far. Every kind that "
        "the rules match is looked at, behind wildcards, too, and every expression of the policy.",
        "validations:\n- expression: object.spec.replica <= 5\n",
        "validations:\n- expression: object.spec.replicas <= 5\n",
        _type_errors,
    ),
    Rule(
        "CEL012",
        "unknown-resource",
        Severity.WARNING,
        "A rule names a resource or subresource that its groups and versions do not have, so it "
        "matches nothing. Resources are written in lower case and in the plural.",
        "matchConstraints:\n  resourceRules:\n  - {apiGroups: [apps], apiVersions: [v1], "
        "operations: [CREATE], resources: [deployment]}\nvalidations:\n- expression: 'false'\n",
        "validations:\n- expression: 'false'\n",
        _unknown_resources,
    ),
)
