"""What the API server itself remarks about an object, whatever the policies say.

The warnings of `celadon.kube.writes`, in the order in which a client gets them: those about the
version, about the object as it was sent, about the object as it will be. They come before the
warnings of policies, and all share one budget.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.admission import Operation, RecordedWarning, Verdict, recorded_warnings
from celadon.admission.registration import STRATEGIES
from celadon.cli.checking.questions import Asked
from celadon.kube.catalogue import DEPRECATED
from celadon.kube.writes import write_path


def remarks(asked: Asked) -> list[str]:
    """About what is created or updated, and is taken."""
    request, target = asked.request, asked.target
    if request.operation not in {Operation.CREATE, Operation.UPDATE} or request.object is None:
        return []
    creates = request.operation is Operation.CREATE
    old = None if creates else request.old_object
    found = DEPRECATED.get(target.resource.gvk)
    version = [] if found is None else [found.warning(target.resource.gvk)]
    sent = asked.document.value
    return [
        *version,
        *write_path.write_warnings(sent, target, STRATEGIES, creates=creates),
        *write_path.made_warnings(request.object, old, target),
    ]


def all_warnings(texts: Sequence[str], verdict: Verdict) -> tuple[RecordedWarning, ...]:
    """The server's and the policies', as a client gets them."""
    if not texts:
        return verdict.recorded
    own = [RecordedWarning(text) for text in dict.fromkeys(texts)]
    return tuple(recorded_warnings([*own, *verdict.recorded]))
