"""The logs of a pod: nothing as long as it has no node, then a node that does not answer.

As k8s.io/kubernetes `pkg/registry/core/pod/rest/log.go` and `ValidatePodLogOptions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission import World
from celadon.kube import FieldError, FieldPath, GroupKind, fieldpath, status
from celadon.kube.go import TimeError, canonical_time, parse_int
from celadon.kube.validation import NEGATIVE
from celadon.kube.well_known_values import PODS
from celadon.serve.http_messages import HttpAnswer
from celadon.serve.rest.calls import Call
from celadon.serve.rest.connections import backends

LOG: Final = "log"
_OPTIONS: Final = GroupKind("", "PodLogOptions")
_STREAMS: Final = ("All", "Stdout", "Stderr")
_AT_LEAST_1: Final = "must be greater than 0"


def pod_log(call: Call, world: World) -> HttpAnswer:
    """Raises StatusError."""
    namespace, name = call.target.namespace, call.target.name
    options = _options(call.request.query)
    errors = list(_errors(options))
    if errors:
        raise status.invalid(_OPTIONS, name, errors)
    pod = backends.existing(world, PODS, namespace, name)
    container = backends.container_of(pod, options.get("container", ""))
    node = backends.node_of(pod)
    if not node:
        return HttpAnswer(204)
    address = backends.kubelet(world, node, PODS)
    url = f"https://{address}/containerLogs/{namespace}/{name}/{container}"
    raise status.plain_error(f'Get "{url}": {backends.refused(address)}')


def _options(query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Those that matter here. Raises StatusError 400."""
    found = {}
    for name, convert in _PARAMETERS.items():
        if query.get(name):
            try:
                found[name] = convert(query[name][0])
            except (ValueError, TimeError) as error:
                raise status.bad_request(str(error)) from None
    return found


_PARAMETERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "container": str,
    "tailLines": parse_int,
    "limitBytes": parse_int,
    "sinceSeconds": parse_int,
    "sinceTime": canonical_time,
    "stream": str,
}


def _errors(options: Mapping[str, Any]) -> Iterator[FieldError]:
    for name, least, detail in (("tailLines", 0, NEGATIVE), ("limitBytes", 1, _AT_LEAST_1)):
        if options.get(name, least) < least:
            yield fieldpath.invalid(FieldPath(name), options[name], detail)
    if "sinceSeconds" in options and "sinceTime" in options:
        detail = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        yield fieldpath.forbidden(FieldPath(""), detail)
    elif options.get("sinceSeconds", 1) < 1:
        yield fieldpath.invalid(FieldPath("sinceSeconds"), options["sinceSeconds"], _AT_LEAST_1)
    if options.get("stream", "All") not in _STREAMS:
        yield fieldpath.not_supported(FieldPath("stream"), options["stream"], _STREAMS)
