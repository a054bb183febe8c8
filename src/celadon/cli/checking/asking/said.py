"""What mutating policies and webhooks have said of a request, where somebody was there to speak.

Apart from `webhook_rounds`, who takes a request to them: most inputs have neither, and need not
load it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from celadon.admission import Request
from celadon.cli.checking.check_report import WebhookCall
from celadon.cli.checking.questions import Asked
from celadon.kube import StatusError
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.mutation.object_mutation import ObjectMutation


@dataclass(slots=True)
class Said:
    """What the webhooks of one type have made of a request; `refusal` is what its client would be
    told. Warnings are as they came."""

    calls: list[WebhookCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    refusal: StatusError | None = None
    mutation: ObjectMutation | None = None
    """What mutating policies have made of the object, if there are any for it."""


class Asks(Protocol):
    """Takes requests to those who may change or refuse them."""

    def mutated(self, asked: Asked) -> tuple[Asked, Said]:
        """The request with its object as the mutating policies and webhooks leave it."""
        ...

    def validated(self, asked: Asked) -> Said:
        """What the validating webhooks say."""
        ...

    def concerns(self, request: Request) -> bool:
        """Whether any of them would be asked about a request."""
        ...


class NobodyToAsk:
    """There are no webhooks and no mutating policies."""

    def mutated(self, asked: Asked) -> tuple[Asked, Said]:
        """The request as it is."""
        return asked, Said()

    def validated(self, asked: Asked) -> Said:
        """Nothing."""
        return Said()

    def concerns(self, _: Request) -> bool:
        """No."""
        return False
