"""From the policies that may match a request to what they are evaluated with.

One walk for validating and mutating policies: match constraints, bindings, params, in upstream's
order; what is wrong on the way is an error of the policy's or the binding's configuration. As
k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from celadon.admission.candidates import BoundCandidate, Candidate
from celadon.admission.decision_source import (
    MATCH_CONSTRAINTS,
    MATCH_RESOURCES,
    PARAM_KIND,
    PARAM_REF,
    Source,
)
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.hits import Hit, MatchError
from celadon.admission.matching import matches
from celadon.admission.policy.params import ParamError
from celadon.admission.policy.policy_frame import PolicyFrame
from celadon.admission.verdict import Outcome
from celadon.kube import JsonObject
from celadon.records import dataclass

C = TypeVar("C", bound=PolicyFrame)


class Invocation(NamedTuple):
    """A binding that matches, with its params, one after the other; null stands for none."""

    bound: BoundCandidate
    params: Sequence[JsonObject | None]


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Why a policy (`binding` is empty) or a binding cannot be used."""

    text: str
    source: Source
    binding: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A binding that has no say."""

    binding: str
    outcome: Outcome


def policy_hit(candidate: Candidate[C], context: RequestContext) -> Hit | Misconfigured | None:
    """As what the policy sees the request; None if it does not match."""
    try:
        hit = matches(candidate.plan, context)
    except MatchError as error:
        source = MATCH_CONSTRAINTS.below(error.path)
        return Misconfigured(f"failed to configure policy: {error}", source)
    if hit is not None and candidate.error:
        return Misconfigured(f"failed to configure policy: {candidate.error}", PARAM_KIND)
    return hit


def invocations(
    candidate: Candidate[C], context: RequestContext
) -> Iterator[Invocation | Misconfigured | Passed]:
    """What comes of the bindings of a policy that matches, in their order."""
    request, world = context.request, context.world
    for bound in candidate.bindings:
        binding = bound.binding
        try:
            if matches(bound.plan, context) is None:
                yield Passed(binding.name, Outcome.BINDING_UNMATCHED)
                continue
            found = bound.params.collect(request.namespace, world)
        except MatchError as error:
            yield misconfigured_binding(bound, str(error), MATCH_RESOURCES.below(error.path))
        except ParamError as error:
            yield misconfigured_binding(bound, str(error), PARAM_REF)
        else:
            if found:
                yield Invocation(bound, found)
            else:
                yield Passed(binding.name, Outcome.PARAM_NOT_FOUND)


def misconfigured_binding(bound: BoundCandidate, why: str, source: Source) -> Misconfigured:
    """A binding that cannot be used, in a client's words."""
    text = f"failed to configure binding: {why}"
    return Misconfigured(text, source, bound.binding.name)
