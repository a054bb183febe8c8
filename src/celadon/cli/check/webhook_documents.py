"""Webhook configurations among the given documents: decoded and validated as the API server would
on writing them, and as sets of hooks that know whom they concern.

One that the API server would not accept becomes a `PolicyError`; the others take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final

from celadon.admission.registration import (
    Decoded,
    WebhookConfiguration,
    decode_webhooks,
    validate_create,
)
from celadon.admission.static import is_static, static_errors
from celadon.cli.check.check_report import Place, PolicyError, WebhookCall
from celadon.cli.check.manifests import group_of
from celadon.cli.check.policy_set import Placed, accepted, document_error
from celadon.cli.reading.documents import Document
from celadon.kube import FieldError, FieldPath, StatusError
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.webhooks import Hook, HookSet
    from celadon.cli.check.object_mutation import ObjectMutation

KINDS: Final = {"MutatingWebhookConfiguration": True, "ValidatingWebhookConfiguration": False}
"""Whether the webhooks of a kind are mutating ones."""

Configurations = dict[str, Placed[WebhookConfiguration]]


@dataclass(slots=True)
class WebhookDocuments:
    """The configurations of both kinds, by name, and what was meant to be one but is not."""

    mutating: Configurations = field(default_factory=dict)
    validating: Configurations = field(default_factory=dict)
    errors: list[PolicyError] = field(default_factory=list)

    def of(self, *, mutating: bool) -> Configurations:
        """Return those of one kind."""
        return self.mutating if mutating else self.validating

    def hooks(self, version: str, *, mutating: bool) -> HookSet:
        """The webhooks of one kind, whose conditions are in the CEL of a release."""
        from celadon.admission.webhooks import HookSet

        given = [one.value for one in self.of(mutating=mutating).values()]
        return HookSet(
            [one for one in given if not is_static(one)],
            version,
            static=[one for one in given if is_static(one)],
        )

    def place(self, hook: Hook, *, mutating: bool) -> Place:
        """Return where a webhook is written."""
        configuration = self.of(mutating=mutating)[hook.configuration]
        index = configuration.value.webhooks.index(hook.webhook)
        return configuration.place(FieldPath("webhooks", index))

    @property
    def names(self) -> frozenset[str]:
        """The names of all webhooks."""
        every = (*self.mutating.values(), *self.validating.values())
        return frozenset(hook.name for one in every for hook in one.value.webhooks)

    @property
    def count(self) -> int:
        """Return how many webhooks there are."""
        every = (*self.mutating.values(), *self.validating.values())
        return sum(len(one.value.webhooks) for one in every)


def is_configuration(document: Document) -> bool:
    """Return whether a document is one of webhooks."""
    return document.value["kind"] in KINDS and group_of(document) == ADMISSION_REGISTRATION


def webhook_documents(documents: Iterable[Document], version: str) -> WebhookDocuments:
    """Return those among the documents. The later of two with one name replaces the earlier."""
    found = WebhookDocuments()
    for document in documents:
        if not is_configuration(document):
            continue
        mutating = KINDS[document.value["kind"]]
        one = accepted(document, _decoding(mutating=mutating), _complaints(version), found.errors)
        if one is not None and not _static_errors(one, found.errors):
            found.of(mutating=mutating)[one.value.name] = one
    return found


def _static_errors(one: Placed[WebhookConfiguration], errors: list[PolicyError]) -> bool:
    """Return whether there are any: what keeps a server from loading it from its files."""
    wrong = list(static_errors([one.value], one.document.file)) if is_static(one.value) else []
    errors += [document_error(one.document, error.path, error.text) for error in wrong]
    return bool(wrong)


def _decoding(*, mutating: bool) -> Callable[[object, str], Decoded[WebhookConfiguration]]:
    def decode(document: object, version: str) -> Decoded[WebhookConfiguration]:
        return decode_webhooks(document, mutating=mutating, version=version)

    return decode


def _complaints(version: str) -> Callable[[WebhookConfiguration], list[FieldError]]:
    def complaints(configuration: WebhookConfiguration) -> list[FieldError]:
        return validate_create(configuration, version)

    return complaints


# --- Said --------------------------------------------------------------------
#
# What mutating policies and webhooks have said of a request, where somebody was there to speak.


@dataclass(slots=True)
class Said:
    """This is what the webhooks of one type have made of a request; `refusal` is what its client
    would be told. Warnings are as they came."""

    calls: list[WebhookCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    refusal: StatusError | None = None
    mutation: ObjectMutation | None = None
    """What mutating policies have made of the object, if there are any for it."""
