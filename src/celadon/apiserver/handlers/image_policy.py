"""ImagePolicyWebhook: a backend says which images may run. What it said is remembered for a while.

It waits for somebody else, so that it is no function of a request as the other plugins are. As
k8s.io/kubernetes `plugin/pkg/admission/imagepolicy`.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from celadon.admission import Request, plugins
from celadon.kube import JsonObject

if TYPE_CHECKING:
    from celadon.apiserver.image_backend import ImageBackend

MOST_REMEMBERED: Final = 1024
FINE: Final = plugins.Opinion()


class ImagePolicy:
    """`settings` is None where the plugin is switched off; `seconds` is a clock that never goes
    back, `clock` is Unix time."""

    def __init__(
        self,
        settings: plugins.ImagePolicySettings | None,
        seconds: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._seconds = seconds
        self._clock = clock
        self._backend: ImageBackend | None = None
        self._verdicts: OrderedDict[bytes, tuple[float, plugins.ImageVerdict]] = OrderedDict()

    @property
    def has_backend(self) -> bool:
        """Return whether there is anybody to ask."""
        return self._settings is not None

    async def opinion(self, request: Request) -> plugins.Opinion:
        """Return the backend's opinion about the images of a pod."""
        settings = self._settings
        review = None if settings is None else plugins.image_review(request)
        if settings is None or review is None:
            return FINE
        # late: few ask
        from celadon.apiserver.image_backend import ImageBackend, NoAnswer

        if self._backend is None:
            self._backend = ImageBackend(settings.kubeconfig, settings.backoff, self._clock)
        try:
            verdict = await self._verdict(settings, review, self._backend.ask)
        except NoAnswer as error:
            return plugins.unanswered_opinion(request, str(error), allowed=settings.default_allow)
        return plugins.image_opinion(request, verdict)

    async def aclose(self) -> None:
        """Close what is kept."""
        if self._backend is not None:
            await self._backend.aclose()

    async def _verdict(
        self,
        settings: plugins.ImagePolicySettings,
        review: JsonObject,
        ask: Callable[[JsonObject], Awaitable[plugins.ImageVerdict]],
    ) -> plugins.ImageVerdict:
        key = hashlib.sha256(json.dumps(review["spec"], sort_keys=True).encode()).digest()
        cached = self._verdicts.get(key)
        if cached is not None and self._seconds() < cached[0]:
            self._verdicts.move_to_end(key)
            return cached[1]
        verdict = await ask(review)
        allow_seconds = settings.allow_seconds if verdict.allowed else settings.deny_seconds
        self._verdicts[key] = (self._seconds() + allow_seconds, verdict)
        self._verdicts.move_to_end(key)
        if len(self._verdicts) > MOST_REMEMBERED:
            self._verdicts.popitem(last=False)
        return verdict
