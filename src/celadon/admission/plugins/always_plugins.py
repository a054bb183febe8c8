"""AlwaysDeny, as k8s.io/kubernetes `plugin/pkg/admission/deny`. AlwaysAdmit has nothing to say."""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.plugins.plugin_answers import EVERYTHING, Behaviour, forbidden
from celadon.admission.request import Request
from celadon.admission.world import World
from celadon.kube import StatusError


def _validate(request: Request, _: World) -> StatusError:
    return forbidden(request, "admission control is denying all modifications")


def _mutate(_: dict[str, Any], request: Request, world: World) -> StatusError:
    return _validate(request, world)


ALWAYS_DENY: Final = Behaviour(
    mutate=_mutate, validate=_validate, subresources=None, operations=EVERYTHING
)
