"""What a mode is about, and that the pane of policies holds something of it.

Choosing a mode says what decides. A policy that is still there from another mode would decide
behind the back of whoever chose this one, so it is a problem until something of the mode is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from celadon.cli.checking.asking.webhook_documents import is_configuration
from celadon.cli.playing.playground_states import Mode, Pane
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube.well_known_values import ADMISSION_REGISTRATION

NAMES: Final = {
    Mode.VALIDATING: "Validating policy",
    Mode.MUTATING: "Mutating policy",
    Mode.RULES: "Rules of a CRD",
    Mode.WEBHOOK: "Webhook match conditions",
}
"""As the page has them."""

_KINDS: Final = {
    (ADMISSION_REGISTRATION, "ValidatingAdmissionPolicy"): Mode.VALIDATING,
    (ADMISSION_REGISTRATION, "ValidatingAdmissionPolicyBinding"): Mode.VALIDATING,
    (ADMISSION_REGISTRATION, "MutatingAdmissionPolicy"): Mode.MUTATING,
    (ADMISSION_REGISTRATION, "MutatingAdmissionPolicyBinding"): Mode.MUTATING,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Mode.RULES,
}


def subject(document: Document) -> Mode | None:
    """The mode that a document is for; None for what decides nothing by itself."""
    if is_configuration(document):
        return Mode.WEBHOOK
    return _KINDS.get(document.group_kind)


def wrong_subject(mode: Mode, policies: Iterable[Document]) -> Problem | None:
    """If all that could decide is for other modes; `policies` are from the pane of them."""
    others = [(one, found) for one in policies if (found := subject(one)) is not None]
    if not others or any(found is mode for _, found in others):
        return None
    document, found = others[0]
    text = f"a {document.group_kind[1]} decides nothing in the mode `{NAMES[mode]}`"
    help_ = f"choose the mode `{NAMES[found]}` for it"
    return Problem(Pane.POLICY.value, document.line(), text, help_)
