"""What the API server itself remarks about an object, whatever the policies say.

The warnings of `celadon.kube.registry`, in the order in which a client gets them: those about the
version, about fields that get lost, about the object as it was sent, what mutating webhooks have to
say, about the object as it will be. They come before the warnings of policies and of validating
webhooks, and all share one budget.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.admission import Operation, RecordedWarning, Verdict, recorded_warnings
from celadon.admission.registration import STRATEGIES
from celadon.cli.checking.questions import Asked
from celadon.kube.catalogue import DEPRECATED
from celadon.kube.registry import repeated_owner_warnings, valid_warnings, write_warnings


def remarks(asked: Asked, between: Sequence[str] = ()) -> list[str]:
    """About what is created or updated, and is taken; `between` is what webhooks have said."""
    request, target = asked.request, asked.target
    if request.operation not in {Operation.CREATE, Operation.UPDATE} or request.object is None:
        return list(between)
    creates = request.operation is Operation.CREATE
    old = None if creates else request.old_object
    found = DEPRECATED.get(target.resource.gvk)
    warning = "" if found is None else found.warning(target.resource.gvk)
    version = [warning] if warning else []
    sent = asked.document.value
    return [
        *version,
        *lost_fields(asked),
        *repeated_owner_warnings(sent),
        *write_warnings(sent, target, STRATEGIES, creates=creates),
        *between,
        *asked.forgiven,
        *valid_warnings(request.object, old, target),
    ]


def lost_fields(asked: Asked) -> list[str]:
    """What it says, if asked to, of fields that the object does not have, even if it refuses it."""
    stray = asked.stray
    return [] if stray is None or stray.is_refused else stray.warnings()


def all_warnings(
    texts: Sequence[str], verdict: Verdict, after: Sequence[str] = ()
) -> tuple[RecordedWarning, ...]:
    """What is said before policies, by them, and after them, as a client gets it."""
    if not texts and not after:
        return verdict.recorded
    given: dict[str, RecordedWarning] = {}
    for warning in (*map(RecordedWarning, texts), *verdict.recorded, *map(RecordedWarning, after)):
        given.setdefault(warning.text, warning)
    return tuple(recorded_warnings(given.values()))
