"""An explanation in words, as items within items: who was asked, what followed, and why.

Texts are ours (house rule 15) but for what the server says to clients. Each kind of output draws
the same items.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final

from celadon.admission import Action, Cause, Decision, Note, Outcome, Request, explain
from celadon.cli.annotated_source import Snippet, annotated, brief
from celadon.cli.check.check_report import State
from celadon.cli.check.recorded_requests import ExplainedObject
from celadon.cli.report.report_model import plural
from celadon.kube import JsonObject
from celadon.kube.go import json_text
from celadon.kube.registry import patch_between
from celadon.records import dataclass


class Style(enum.Enum):
    """Says how an item is meant."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    IDLE = "idle"
    """Had no say, or was not evaluated."""


@dataclass(frozen=True, slots=True)
class Item:
    """Holds an item of an explanation. `label` names it, `text` says what became of it; `lines` say
    more. `snippet` is an expression with values, `source` one without."""

    label: str
    text: str = ""
    style: Style = Style.PLAIN
    lines: tuple[str, ...] = ()
    snippet: Snippet | None = None
    source: str = ""
    items: tuple[Item, ...] = ()
    opens: bool = True
    """Whether it is worth reading at once."""


_OUTCOMES: Final = {
    Outcome.CONDITION_FALSE: "a match condition is false",
    Outcome.CONDITION_ERROR_IGNORED: "an error in a match condition, ignored",
    Outcome.CONFIGURATION_ERROR_IGNORED: "an error in the configuration, ignored",
}
"""Those that need words of their own; the others show in the items."""


def outline(explained: ExplainedObject) -> Item:
    """Return the outline of one object."""
    result, request = explained.result, explained.validation.request
    lines = [f"{request.operation.value} {_resource(request)}, by {request.user.name or 'nobody'}"]
    if str(result.place):
        lines.append(str(result.place))
    if result.created_by is not None:
        lines.append(f"created by the controller of {result.created_by.title}")
    refused = result.state in (State.DENIED, State.INVALID)
    items = [*_answer(explained)]
    if explained.mutation is not None:
        items += _explanation(explained.mutation)
    items += (
        _hook(mutating_hook, "mutating webhook") for mutating_hook in explained.mutating_hooks
    )
    items += _explanation(explained.validation)
    items += (
        _hook(validating_hook, "validating webhook")
        for validating_hook in explained.validating_hooks
    )
    style = Style.BAD if refused else Style.WARNING if result.warnings else Style.GOOD
    return Item(result.title, result.state.value, style, tuple(lines), items=tuple(items))


def _resource(request: Request) -> str:
    group, version, name = request.resource
    text = f"{name}/{request.subresource}" if request.subresource else name
    return f"{group}/{version} {text}" if group else f"{version} {text}"


def _answer(explained: ExplainedObject) -> Iterator[Item]:
    result = explained.result
    if result.is_refused:
        faults = tuple(f"{fault.field}: {fault.message}" for fault in result.faults)
        faults += (f"admission plugin {result.plugin}",) if result.plugin else ()
        yield Item("answer", f"{result.code} {result.sentence}", Style.BAD, faults)
    for warning in result.warnings:
        yield Item("warning", warning.text, Style.WARNING)
    for key, value in result.audit_annotations.items():
        yield Item("audit annotation", f"{key}: {value}")


def _explanation(explanation: explain.Explanation) -> Iterator[Item]:
    if explanation.exempt:
        yield Item("policies", "none ever sees this resource", Style.IDLE)
    for policy in explanation.policies:
        yield _policy(policy)
    for note in explanation.verdict.notes:
        if note.outcome is Outcome.BINDING_WITHOUT_POLICY:
            text = f"its policy `{note.policy}` does not exist"
            yield Item(f"binding {note.binding}", text, Style.IDLE)


def _policy(explanation: explain.PolicyExplanation) -> Item:
    kind = type(explanation.policy).__name__
    items = [match_item(explanation.match)]
    if not explanation.bindings:
        items.append(Item("bindings", "none: the policy is not in force", Style.IDLE))
    items += (_error(decision, explanation) for decision in explanation.decisions)
    items += (_ignored(note) for note in explanation.notes if note.detail)
    items += (
        Item("configuration", failure.text, _failed(ignored=failure.ignored))
        for failure in explanation.failures
    )
    is_matched = explanation.match.hit is not None
    if is_matched:
        items += (_binding(binding, explanation) for binding in explanation.bindings)
    text = f"failurePolicy {'Ignore' if explanation.ignores_failures else 'Fail'}"
    if explanation.static:
        text += ", static"
    style = _worst(items) if is_matched and explanation.bindings else Style.IDLE
    return Item(
        f"{kind} {explanation.policy.name}", text, style, items=tuple(items), opens=is_matched
    )


def _failed(*, ignored: bool) -> Style:
    return Style.WARNING if ignored else Style.BAD


def _worst(items: list[Item]) -> Style:
    styles = {item.style for item in items}
    for style in (Style.BAD, Style.WARNING, Style.GOOD):
        if style in styles:
            return style
    return Style.IDLE


def _hook(explanation: explain.HookExplanation, kind: str) -> Item:
    """Return whether a webhook gets the request, and why; nobody is asked for that."""
    items = [match_item(explanation.match, "rules"), *map(condition_item, explanation.conditions)]
    items += map(budget_item, explanation.budgets)
    label = f"{kind} {explanation.hook.name}"
    if explanation.refusal is not None:
        text = f"the request is refused: {explanation.refusal}"
        return Item(label, text, Style.BAD, items=tuple(items))
    if explanation.is_asked:
        return Item(label, "gets the request", Style.GOOD, items=tuple(items))
    if explanation.ignored:
        text = f"does not get the request, for an error that is ignored: {explanation.ignored}"
        return Item(label, text, Style.WARNING, items=tuple(items))
    opens = explanation.match.hit is not None
    return Item(label, "does not get the request", Style.IDLE, items=tuple(items), opens=opens)


def _error(decision: Decision, policy: explain.PolicyExplanation) -> Item:
    """Return an error that stands for more than one expression."""
    became = _became(decision, ignores=policy.ignores_failures)
    style = _failed(ignored=decision.action is Action.ADMIT)
    return Item(decision.cause.value, f"{decision.message}{became}", style)


def _became(decision: Decision, *, ignores: bool) -> str:
    if decision.cause is Cause.VALIDATION:
        return ""
    if ignores and decision.action is Action.ADMIT:
        return " (ignored: failurePolicy Ignore)"
    return " (counts as a denial: failurePolicy Fail)"


def _ignored(note: Note) -> Item:
    return Item(_OUTCOMES[note.outcome], note.detail, Style.WARNING)


# --- matching ---------------------------------------------------------------------------------


def match_item(reason: explain.MatchReason, rules: str = "resourceRules") -> Item:
    """Return why something matches, or does not; `rules` is the field that its rules stand in."""
    items = [*_rules(rules, reason.rules), *_rules("excludeResourceRules", reason.excludes)]
    items += _selector("namespaceSelector", reason.namespace_selector)
    items += _selector("objectSelector", reason.object_selector)
    if reason.hit is not None:
        resource = reason.hit.resource
        text = f"yes, as {resource.group_resource} {resource.version}"
        return Item("matches", text, Style.PLAIN, items=tuple(items), opens=False)
    if reason.error:
        return Item("matches", f"cannot be said: {reason.error}", Style.BAD, items=tuple(items))
    return Item("matches", f"no: {reason.missed}", Style.IDLE, items=tuple(items))


def _rules(field: str, rules: tuple[explain.RuleReason, ...]) -> Iterator[Item]:
    for rule in rules:
        label = f"{field}[{rule.index}]"
        if rule.uncovered:
            rule_index = rule.rule
            values = {
                "scope": rule_index.scope,
                "operations": rule_index.operations,
                "apiGroups": rule_index.api_groups,
                "apiVersions": rule_index.api_versions,
                "resources": rule_index.resources,
                "resourceNames": rule_index.resource_names,
            }[rule.uncovered]
            text = f"does not cover it: {rule.uncovered} {json_text(values)}"
            yield Item(label, text, Style.IDLE)
        else:
            resource = rule.resource
            text = f"covers {resource.group_resource} {resource.version}"
            yield Item(label, text)


def _selector(field: str, reason: explain.SelectorReason | None) -> Iterator[Item]:
    if reason is None:
        return
    text = {True: "selects it", False: "does not select it", None: "cannot be asked"}[
        reason.selects
    ]
    labels = " and ".join(json_text(dict(label)) for label in reason.labels) or "nothing"
    style = Style.PLAIN if reason.selects else Style.IDLE
    yield Item(field, f"{text}: {json_text(reason.selector)} of {labels}", style)


# --- bindings ---------------------------------------------------------------------------------


def _binding(explanation: explain.BindingExplanation, policy: explain.PolicyExplanation) -> Item:
    actions = ", ".join(explanation.binding.spec.validation_actions)
    items = [] if explanation.match is None else [match_item(explanation.match)]
    if explanation.lookup is not None:
        items.append(_lookup(explanation.lookup))
    items += (_error(decision, policy) for decision in explanation.decisions)
    items += (_ignored(note) for note in explanation.notes if note.detail)
    items += (
        Item("configuration", failure.text, _failed(ignored=failure.ignored))
        for failure in explanation.failures
    )
    cases = [_case(case, policy) for case in explanation.cases]
    if len(cases) == 1 and explanation.lookup is None:
        items += cases[0].items
    else:
        items += cases
    matched = explanation.match is not None and explanation.match.hit is not None
    style = _worst(items) if matched else Style.IDLE
    return Item(
        f"binding {explanation.binding.name}", actions, style, items=tuple(items), opens=matched
    )


def _lookup(lookup: explain.ParamLookup) -> Item:
    kind = f"{lookup.kind.kind} of {lookup.kind.api_version}"
    where = f" in namespace {lookup.namespace}" if lookup.namespace else ""
    params = f"`{lookup.name}`" if lookup.name else f"with labels {json_text(lookup.selector)}"
    text = f"{kind} {params}{where}: "
    if lookup.error:
        return Item("params", text + lookup.error, Style.BAD)
    if lookup.found_names:
        return Item("params", text + f"found {', '.join(lookup.found_names)}")
    return Item("params", f"{text}not found, {lookup.action}", Style.IDLE)


def _case(explanation: explain.CaseExplanation, policy: explain.PolicyExplanation) -> Item:
    items = [*(_error(decision, policy) for decision in explanation.decisions)]
    items += (
        Item("error", failure.text, _failed(ignored=failure.ignored))
        for failure in explanation.failures
    )
    items += (condition_item(part) for part in explanation.conditions)
    if explanation.outcome is not None and explanation.outcome.outcome is not Outcome.EVALUATED:
        text = f"not evaluated: {_OUTCOMES[explanation.outcome.outcome]}"
        items.append(Item("policy", text, Style.IDLE))
    items += (_variable(part) for part in explanation.variables)
    for part in explanation.validations:
        items.append(_validation(part, policy))
    items += (_mutation(part) for part in explanation.mutations)
    items += (_annotation(part, policy) for part in explanation.annotations)
    items += (budget_item(budget) for budget in explanation.budgets)
    label = f"with params {explanation.param}" if explanation.param else "without params"
    if explanation.round:
        label = f"asked again, {label}"
    return Item(label, "", _worst(items), items=tuple(items))


def budget_item(budget: explain.Budget) -> Item:
    """Return what a phase has cost."""
    style = Style.BAD if budget.spent > budget.limit else Style.PLAIN
    return Item(f"cost of {budget.phase}", f"{budget.spent:,} of {budget.limit:,}", style)


# --- expressions ------------------------------------------------------------------------------


def _part(part: explain.Part, label: str, text: str, style: Style, *, opens: bool = True) -> Item:
    """Return the part with its expression, annotated if it was evaluated."""
    if part.run is None:
        return Item(label, text, style, source=part.text, opens=opens)
    return Item(label, text, style, snippet=annotated(part.run), opens=opens)


def _value(run: explain.ExpressionRun) -> str:
    return brief(run.value, 80)


def condition_item(part: explain.Part) -> Item:
    """Return the item of a match condition."""
    label = f"{part.source} `{part.name}`"
    if part.broken:
        return _part(part, label, part.broken, Style.BAD)
    if part.run is None:
        return _part(part, label, "not evaluated", Style.IDLE)
    style = Style.PLAIN if part.run.value is True else Style.IDLE
    style = Style.BAD if part.run.failed else style
    return _part(part, label, _value(part.run), style)


def _variable(part: explain.VariablePart) -> Item:
    label = f"variables.{part.name}"
    if part.broken:
        return Item(label, part.broken, Style.BAD, source=part.text)
    if not part.runs:
        return Item(label, "never needed", Style.IDLE, source=part.text, opens=False)
    first = part.runs[0]
    phases = "" if len(part.runs) == 1 else f", in {len(part.runs)} phases"
    style = Style.BAD if first.failed else Style.PLAIN
    text = f"{_value(first)}, cost {first.cost:,}{phases}"
    return Item(label, text, style, snippet=annotated(first), opens=first.failed)


def _validation(part: explain.Part, policy: explain.PolicyExplanation) -> Item:
    decision = part.decision
    label = str(part.source)
    if decision is None:
        text = part.broken or ("not evaluated" if part.run is None else _value(part.run))
        return _part(part, label, text, Style.BAD if part.broken else Style.IDLE, opens=False)
    message = "true" if decision.action is Action.ADMIT else "false"
    if decision.cause is not Cause.VALIDATION:
        message = "error"
    cost = "" if decision.cost is None else f", cost {decision.cost:,}"
    lines = []
    if decision.message:
        lines.append(f"{decision.message}{_became(decision, ignores=policy.ignores_failures)}")
    if decision.action is Action.DENY and decision.actions:
        lines.append(f"the binding says {', '.join(decision.actions)}")
    style = Style.GOOD
    if decision.action is Action.DENY:
        style = Style.BAD if decision.denies else Style.WARNING
    elif message == "error":
        style = Style.WARNING
    items = () if part.message is None else (_message(part.message, needed=message == "false"),)
    item = _part(part, label, f"{message}{cost}", style, opens=message != "true")
    return Item(label, item.text, style, tuple(lines), item.snippet, item.source, items, item.opens)


def _message(part: explain.Part, *, needed: bool) -> Item:
    label = str(part.source)
    if part.broken or part.run is None:
        return _part(part, label, part.broken or "not evaluated", Style.IDLE, opens=False)
    text = _value(part.run) if needed else f"{_value(part.run)} (evaluated, not needed)"
    return _part(part, label, text, Style.PLAIN, opens=part.run.failed)


def _annotation(part: explain.Part, policy: explain.PolicyExplanation) -> Item:
    label = f"auditAnnotations `{part.name}`"
    if part.decision is not None:
        became = _became(part.decision, ignores=policy.ignores_failures)
        return _part(part, label, f"{part.decision.message}{became}", Style.BAD)
    if part.broken or part.run is None:
        return _part(part, label, part.broken or "not evaluated", Style.IDLE, opens=False)
    return _part(part, label, _value(part.run), Style.PLAIN, opens=part.run.failed)


def _mutation(part: explain.Part) -> Item:
    label = str(part.source)
    if part.failure is not None:
        became = " (ignored: failurePolicy Ignore)" if part.failure.ignored else ""
        return _part(part, label, f"{part.failure.text}{became}", _failed(ignored=bool(became)))
    if part.change is None:
        return _part(part, label, "not evaluated", Style.IDLE, opens=False)
    patch = patch_between(part.change.before, part.change.after)
    text = plural(len(patch), "change")
    item = _part(part, label, text if patch else "changes nothing", Style.GOOD)
    lines = tuple(_operation(operation) for operation in patch)
    return Item(label, item.text, item.style, lines, item.snippet, item.source)


def _operation(operation: JsonObject) -> str:
    value = f" {brief(operation['value'], 60)}" if "value" in operation else ""
    return f"{operation['op']} {operation['path']}{value}"
