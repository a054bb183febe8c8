"""Who owns which fields, at each write; and server-side apply, which goes by it.

`celadon.kube.apply` does the work; here is what it needs to know of a request.
"""

from __future__ import annotations

from typing import Final

from celadon.admission import World
from celadon.kube import JsonObject, status
from celadon.kube.apply import (
    FieldWriter,
    Versions,
    applied,
    read_applied,
    track_create,
    track_update,
)
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Incoming, request_options
from celadon.records import dataclass
from celadon.serve.rest.bodies import read_configuration
from celadon.serve.rest.calls import Call
from celadon.serve.views.served_resources import ServedResources

MANAGER_BYTES: Final = 128
"""Of the name that a User-Agent gives (k8s.io/apiserver `pkg/endpoints/handlers/rest.go`)."""


@dataclass(frozen=True, slots=True)
class FieldManagers:
    """The managers of one server's objects; they write at the time of the write's context."""

    served: ServedResources
    world: World

    def created(self, call: Call, read: Incoming) -> None:
        """A new object gets its managers."""
        track_create(read.draft, call.target, self._writer(call, read.draft.run.context))

    def updated(self, call: Call, read: Incoming, live: JsonObject) -> None:
        """A changed object gets its managers; `live` is the stored one. One that was applied has
        them already."""
        if not call.options.apply:
            writer = self._writer(call, read.draft.run.context)
            track_update(read.draft, read.sent, live, call.target, writer)

    def applied(self, call: Call, live: JsonObject | None, context: DefaultingContext) -> Incoming:
        """What follows from the configuration in the body. Raises StatusError."""
        config = read_configuration(call)
        force = bool(call.options.force)
        merged = applied(config.value, live, call.target, self._writer(call, context), force=force)
        if config.strict_error and call.field_validation == request_options.STRICT:
            raise status.bad_request(f"error strict decoding YAML: {config.strict_error}")
        if call.field_validation == request_options.WARN:
            call.notes.warnings += config.warnings
        return read_applied(merged, call.target, context, config.value)

    def _writer(self, call: Call, context: DefaultingContext) -> FieldWriter:
        custom = self.served.current().custom
        versions = Versions(custom.get, self.world.convert)
        return FieldWriter(_manager(call), context.now, versions)


def _manager(call: Call) -> str:
    """As the request says, else the beginning of its User-Agent."""
    if call.options.field_manager:
        return call.options.field_manager
    agent = call.request.header("user-agent").partition("/")[0]
    printable = agent if agent.isprintable() else "".join(filter(str.isprintable, agent))
    return printable.encode()[:MANAGER_BYTES].decode("utf-8", "ignore")
