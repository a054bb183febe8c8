"""Which user of a kubeconfig a webhook is called as.

Users are found by their names, which are hosts: `host:port`, then `*.SUFFIX` for each suffix of it,
then both without the port if that is 443, then `*`, then the user of the current context; nobody if
there is none of these. As k8s.io/apiserver `pkg/util/webhook/authentication.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from celadon.kube.well_known_values import HTTPS_PORT
from celadon.serve.outgoing.client_credentials import ClientCredentials
from celadon.serve.outgoing.kubeconfig_file import Kubeconfig


class WebhookCredentials:
    """`clock` is Unix time."""

    def __init__(self, config: Kubeconfig, clock: Callable[[], float]) -> None:
        self._config = config
        self._clock = clock
        self._made: dict[str, ClientCredentials] = {}

    def user_of(self, host: str, port: int) -> str:
        """The name of the user for calls of a server; empty for nobody."""
        for name in _names(host, str(port)):
            if name in self._config.users:
                return name
        context = self._config.contexts.get(self._config.current_context)
        name = "" if context is None else context.user
        return name if name in self._config.users else ""

    def of(self, user: str) -> ClientCredentials:
        """Those of a user that `user_of` gave."""
        found = self._made.get(user)
        if found is None:
            found = ClientCredentials(self._config.users[user], self._clock)
            self._made[user] = found
        return found


def _names(host: str, port: str) -> Iterator[str]:
    yield from _with_stars(f"{host}:{port}")
    if port == str(HTTPS_PORT):
        yield from _with_stars(host)
    yield "*"


def _with_stars(host: str) -> Iterator[str]:
    yield host
    labels = host.split(".")
    for at in range(1, len(labels)):
        yield ".".join(("*", *labels[at:]))
