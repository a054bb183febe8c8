"""The main job: documents to a `Report`.

In order: the policies (`policies`), the world they look at, a request per document (`requests`), a
verdict per request (the engine), and what each verdict means to a reader (here). At the end
`silences` looks for everything that went by without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from celadon.admission import (
    Action,
    Cause,
    Decision,
    Engine,
    ObjectWorld,
    Source,
    Verdict,
)
from celadon.cli.checking.check_report import (
    ClientWarning,
    Notice,
    ObjectResult,
    Place,
    Report,
    Silence,
    State,
    Violation,
)
from celadon.cli.checking.coverage import survey
from celadon.cli.checking.given_world import given_world
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.notices import notices
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import PolicySet
from celadon.cli.checking.questions import Asked, Question, ask, identity
from celadon.cli.checking.refusals import Refusal, refusal
from celadon.cli.checking.server_remarks import all_warnings, remarks
from celadon.cli.crashes import crash
from celadon.cli.reading.problems import Problem


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says about the whole check; `now` is the time of creation."""

    question: Question
    version: str
    now: str
    defaulting: bool = True
    validation: bool = True
    strict: bool = False
    fail_on_warning: bool = False


def check(
    manifests: Manifests, policies: PolicySet, settings: Settings, step: Callable[[int], None]
) -> Report:
    """Judges every document that is to be admitted. `step` is told how many are done."""
    prepare = Prepare(
        (*manifests.looked_up, *manifests.admitted),
        settings.question.user,
        settings.now,
        settings.version,
        defaulting=settings.defaulting,
    )
    world, problems = given_world(manifests, policies, prepare)
    engine = Engine(
        (placed.value for placed in policies.policies.values()),
        (placed.value for placed in policies.bindings.values()),
        settings.version,
    )
    asked, unasked = _requests(manifests, settings, world, prepare)
    coverage = survey(engine, world, asked, policies)
    results = []
    crashes = coverage.crashes
    ignored: dict[tuple[str, Source], Notice] = {}
    for done, (one, matched) in enumerate(zip(asked, coverage.matched, strict=True), 1):
        try:
            refused = refusal(one, prepare) if settings.validation and settings.defaulting else None
            if refused is not None:
                results.append(_refused(one, refused, policies, matched))
            else:
                verdict = engine.review(one.request, world)
                said = remarks(one) if settings.defaulting else []
                results.append(_result(one, verdict, policies, matched, said))
                _ignore(ignored, verdict, one, policies)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            crashes.append(one.crash(error))
        step(done)
    return Report(
        objects=tuple(results),
        policies=len(policies.policies),
        bindings=len(policies.bindings),
        policy_errors=tuple(policies.errors),
        notices=(*notices(manifests, policies, asked, coverage), *ignored.values()),
        problems=tuple(dict.fromkeys((*manifests.problems, *problems, *unasked, *crashes))),
        strict=settings.strict,
        fail_on_warning=settings.fail_on_warning,
    )


def _ignore(
    ignored: dict[tuple[str, Source], Notice], verdict: Verdict, asked: Asked, policies: PolicySet
) -> None:
    """Errors that `failurePolicy: Ignore` let pass: said once per expression."""
    for decision in verdict.decisions:
        if decision.action is not Action.ADMIT or decision.cause is Cause.VALIDATION:
            continue
        rule = policies.place(decision.source, decision.policy, decision.binding)
        text = f"policy `{decision.policy}` ignored an error on {asked.title}: {decision.message}"
        key = (decision.policy, decision.source)
        ignored.setdefault(key, Notice(Silence.ERROR_IGNORED, rule, text))


def _requests(
    manifests: Manifests, settings: Settings, world: ObjectWorld, prepare: Prepare
) -> tuple[list[Asked], list[Problem]]:
    default = settings.question.namespace
    olds = {identity(one, default): one for one in manifests.old}
    asked: list[Asked] = []
    problems: list[Problem] = []
    for document in manifests.admitted:
        found: Asked | Problem
        try:
            found = ask(document, settings.question, world.catalog, olds, prepare)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found = crash(document.file, document.line(), "preparing it", error)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            asked.append(found)
    return asked, problems


def _refused(asked: Asked, refused: Refusal, policies: PolicySet, matched: int) -> ObjectResult:
    """The result of an object that no policy gets to see."""
    verdict = Verdict(allowed=False, code=refused.status.code, status=refused.status.to_json())
    result = _result(asked, verdict, policies, matched)
    if not refused.faults:
        return result
    return replace(result, state=State.INVALID, faults=refused.faults)


def _result(
    asked: Asked, verdict: Verdict, policies: PolicySet, matched: int, said: Sequence[str] = ()
) -> ObjectResult:
    """`said` is what the server itself remarks."""
    request, document = asked.request, asked.document
    warnings = all_warnings(said, verdict)
    state = State.ADMITTED if matched else State.UNTOUCHED
    if not verdict.allowed:
        state = State.DENIED
    elif warnings:
        state = State.WARNED
    found = {
        one: _violation(one, policies) for one in verdict.decisions if one.action is Action.DENY
    }
    return ObjectResult(
        place=Place(document.file, document.line()),
        api_version=request.kind.api_version,
        kind=request.kind.kind,
        title=asked.title,
        namespace=request.namespace if asked.endpoint.namespaced else "",
        name=request.name,
        operation=request.operation.value,
        state=state,
        code=verdict.code,
        sentence=verdict.message,
        status=verdict.status,
        warnings=tuple(
            ClientWarning(warning.text, tuple(found[one] for one in warning.decisions))
            for warning in warnings
        ),
        audit_annotations=verdict.audit_annotations,
        violations=tuple(found.values()),
        denial=None if verdict.denial is None else found[verdict.denial],
        policies=matched,
    )


def _violation(decision: Decision, policies: PolicySet) -> Violation:
    return Violation(
        policy=decision.policy,
        binding=decision.binding,
        param=decision.param,
        field=decision.source.path.text,
        rule=policies.place(decision.source, decision.policy, decision.binding),
        message=decision.message,
        actions=decision.actions,
        is_error=decision.cause is not Cause.VALIDATION,
        denies=decision.denies,
    )
