"""The findings of `celadon simulate-bootstrap` as renderers see them: for each culprit the chain
from a request to the worst that follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.cli.bootstrap import bootstrap_report
from celadon.cli.bootstrap.cluster_startup import Level, State
from celadon.cli.report import report_model as model
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict

_STYLES: Final = {Level.DEGRADED: "warning", Level.DEADLOCKED: "denied", Level.LOCKED_OUT: "denied"}
_WORDS: Final = {
    Level.SAFE: "safe: none of the requests that were simulated locks the cluster",
    Level.DEGRADED: "degraded: parts of the cluster would not work",
    Level.DEADLOCKED: "deadlocked: the cluster would not come up until somebody takes a policy or "
    "webhook away",
    Level.LOCKED_OUT: "locked out: the cluster would not come up, and nobody could repair that "
    "through the API",
}

_SHAPES: Final = {
    **model.SHAPES,
    bootstrap_report.Culprit: ("kind", "name", "binding"),
    bootstrap_report.SentRequest: (
        *("step=sending.name", "request=title", "operation=sending.operation"),
        *("user=sending.actor.user.name", "groups=sending.actor.user.groups"),
    ),
    bootstrap_report.Refusal: ("message", "breaks?"),
    State: ("name!", "otherwise!", "level=level.word!"),
    bootstrap_report.RepairStep: ("command!", "admitted!", "message"),
}


class BootstrapView(model.ReportView[bootstrap_report.BootstrapReport]):
    """A simulation of a cluster that comes up."""

    command = "celadon simulate-bootstrap"

    def text(self, look: model.ReportStyle) -> str:
        """Return the chains, and the verdict."""
        report = self.report
        blocks = [*model.policy_error_lines(report.policy_errors, look)]
        blocks += [_lock_lines(lock, look) for lock in report.locks]
        if look.verbosity >= 0 or report.strict:
            blocks += model.notice_lines(report.notices, look, strict=report.strict)
        blocks.append([*_summary(report)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """Return the document of kind BootstrapReport."""
        report = self.report
        summary = {
            "verdict": report.level.word,
            "requests": report.requests,
            "refused": report.refused,
            "policies": report.policies,
            "bindings": report.bindings,
            "webhooks": report.webhooks,
            "exitCode": int(report.exit),
        }
        return model.document(
            "BootstrapReport",
            summary=summary,
            locks=list(map(_lock, report.locks)),
            policyErrors=report.policy_errors,
            notices=report.notices,
            problems=report.problems,
        )


def _lock(lock: bootstrap_report.Lock) -> JsonObject:
    chain, refusal = lock.chain, lock.chain.refusal
    rule = {"rule": model.data(refusal.place)} if refusal.place.file else {}
    data: dict[str, object] = model.data(
        {
            "level": lock.level.word,
            "culprit": model.data(chain.culprit, _SHAPES) | rule,
            "request": model.data(chain.request, _SHAPES) | model.data(refusal, _SHAPES),
            "states": chain.states,
            "cycle": chain.cycle,
            "onlyIfMadeAnew": chain.once,
            "repair": {"open": lock.repair.is_open, "steps": lock.repair.steps},
            "otherRequests": chain.other_requests,
            "otherStates": chain.other_states,
        },
        _SHAPES,
    )
    return data


# --- for people -----------------------------------------------------------------------------------


def _lock_lines(lock: bootstrap_report.Lock, look: model.ReportStyle) -> list[str]:
    chain = lock.chain
    word = look.paint(_STYLES[lock.level], lock.level.word)
    where = f"{chain.refusal.place}: " if chain.refusal.place.file else ""
    lines = [f"{where}{word}: {_subject(chain.culprit)}"]
    sent = chain.request
    verb = "breaks" if chain.refusal.breaks else "refuses"
    lines.append(f"  it {verb} {sent.title}")
    user = sent.sending.actor
    lines.append(f"    by the {user.name} ({user.user.name})")
    lines.append(f"    {chain.refusal.message}")
    lines += [f"  hence {state.otherwise}" for state in chain.states]
    if chain.cycle:
        lines.append("  which the request itself waits for")
    if chain.once:
        lines.append("  only where it has to be made anew: what runs has it already")
    if look.verbosity >= 0:
        lines += _more(lock, look)
    lines += _repair(lock)
    return lines


def _subject(culprit: bootstrap_report.Culprit) -> str:
    if not culprit.kind:
        return "an object that the server would not take, whatever the policies"
    binding = f" with binding `{culprit.binding}`" if culprit.binding else ""
    return f"{culprit.kind} `{culprit.name}`{binding}"


def _more(lock: bootstrap_report.Lock, look: model.ReportStyle) -> Iterator[str]:
    chain = lock.chain
    if look.verbosity > 0:
        for state in chain.other_states:
            yield f"  also {state.otherwise}"
        for sent in chain.other_requests:
            yield f"  it refuses {sent.title}, too ({sent.sending.actor.name})"
        return
    more = [
        model.plural(len(chain.other_requests), "more request") if chain.other_requests else "",
        model.plural(len(chain.other_states), "more consequence") if chain.other_states else "",
    ]
    text = ", ".join(part for part in more if part)
    if text:
        yield look.paint("dim", f"  {text} (-v)")


def _repair(lock: bootstrap_report.Lock) -> Iterator[str]:
    if not lock.repair.is_open:
        yield "  repair: none through the API"
    for step in lock.repair.steps:
        answer = "admitted" if step.admitted else f"refused: {step.message}"
        yield f"  repair: `{step.command}` ({answer})"


def _summary(report: bootstrap_report.BootstrapReport) -> Iterator[str]:
    yield _WORDS[report.level]
    counts = [model.plural(report.policies, "policy"), model.plural(report.bindings, "binding")]
    if report.webhooks:
        counts.append(model.plural(report.webhooks, "webhook"))
    yield (
        f"{model.plural(report.requests, 'request')}, {report.refused} refused or broken "
        f"({', '.join(counts)})"
    )
