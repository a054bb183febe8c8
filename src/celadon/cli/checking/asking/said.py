"""What mutating policies and webhooks have said of a request, where somebody was there to speak."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from celadon.cli.checking.check_report import WebhookCall
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
