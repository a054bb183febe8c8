"""What mutating policies did to an object, and had against it, as parts of its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celadon.cli.checking.check_report import Mutated, MutationStep, Notice, Silence, Violation
from celadon.cli.checking.policy_set import PolicySet
from celadon.kube.registry import patch_between

if TYPE_CHECKING:
    from celadon.admission.mutating import Change, MutationFailure
    from celadon.cli.checking.mutation.object_mutation import ObjectMutation


def mutated(happened: ObjectMutation | None, policies: PolicySet) -> Mutated | None:
    """None for an object that is as it was."""
    if happened is None or not happened.effects:
        return None
    return Mutated(
        happened.before,
        happened.after,
        tuple(patch_between(happened.before, happened.after)),
        tuple(_step(one, policies) for one in happened.effects),
    )


def _step(change: Change, policies: PolicySet) -> MutationStep:
    return MutationStep(
        change.policy,
        change.binding,
        change.param,
        change.source.path.text,
        policies.place(change.source, change.policy, change.binding),
        change.round,
        change.before,
        change.after,
        tuple(patch_between(change.before, change.after)),
    )


def violations(happened: ObjectMutation, policies: PolicySet) -> list[Violation]:
    """Failures that refuse the object."""
    return [
        Violation(
            policy=one.policy,
            binding=one.binding,
            param=one.param,
            field=one.source.path.text,
            rule=policies.place(one.source, one.policy, one.binding),
            message=one.text,
            actions=(),
            is_error=True,
            denies=True,
            expression=policies.expression(one.source, one.policy),
        )
        for one in happened.failures
        if not one.ignored
    ]


def ignored_failure(one: MutationFailure, title: str, policies: PolicySet) -> Notice:
    """An error that `failurePolicy: Ignore` let pass."""
    rule = policies.place(one.source, one.policy, one.binding)
    text = f"mutating policy `{one.policy}` ignored an error on {title}: {one.text}"
    return Notice(Silence.ERROR_IGNORED, rule, text)
