"""Connections: their options are put before admission, then it turns out that nobody answers.

As k8s.io/apiserver `pkg/endpoints/handlers/rest.go` (`ConnectResource`) and k8s.io/kubernetes
`pkg/registry/core/pod/rest/subresources.go`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission import Operation, World
from celadon.apiserver.handlers.request_context import Call
from celadon.apiserver.handlers.write_admission import Admission
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.negotiation import BUILT_IN_TYPES, accepted, require_route
from celadon.apiserver.request_info import RequestInfo
from celadon.kube import (
    FieldError,
    FieldPath,
    GroupKind,
    GroupVersionResource,
    JsonObject,
    StatusError,
    fieldpath,
    metadata,
    status,
)
from celadon.kube.go import TimeError, canonical_time, parse_int, quote
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import request_bodies
from celadon.kube.releases import is_since
from celadon.kube.resources import Lookups
from celadon.kube.validation import NEGATIVE
from celadon.kube.well_known_values import ENDPOINT_SLICES, NODES, PODS, SERVICE_LABEL, SERVICES
from celadon.records import dataclass

# --- Backends ----------------------------------------------------------------
#
# Where a connection would go, and why it cannot.
#
# No node and no pod is reached from here. What can be known is said as a server says it: there
# is no such pod, container, port or node; after that it is a connection that is refused. As
# k8s.io/kubernetes `pkg/registry/core/{pod,service,node}/strategy.go` and `pkg/kubelet/client`.

KUBELET_PORT: Final = 10250
HTTP_PORT: Final = 80
ADDRESS_TYPES: Final = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
"""The default of `--kubelet-preferred-address-types`."""

_SCHEMES: Final = frozenset({"", "http", "https"})


@dataclass(frozen=True, slots=True)
class Destination:
    """A name in a path of `proxy`: `name`, `name:port` or `scheme:name:port`."""

    name: str
    port: str = ""


def existing(world: Lookups, gvr: GroupVersionResource, namespace: str, name: str) -> JsonObject:
    """Return an object of a namespace. Raises StatusError: 404, or 400 where none is named."""
    if not namespace:
        raise status.namespace_required()
    document = world.get(gvr, namespace, name)
    if document is None:
        raise status.not_found(gvr.group_resource, name)
    return document


def destination(text: str, kind: str) -> Destination:
    """`kind` is the word for texts. Raises StatusError 400."""
    parts = text.split(":")
    name = parts[0] if len(parts) < 3 else parts[1]
    scheme = parts[0] if len(parts) == 3 else ""
    if len(parts) > 3 or not name or scheme not in _SCHEMES:
        raise status.bad_request(f"invalid {kind} request {quote(text)}")
    return Destination(name, parts[-1] if len(parts) > 1 else "")


# --- pods ---


def kubelet_of(world: Lookups, namespace: str, name: str, container: str | None) -> str:
    """Return the address of the kubelet of a pod's container; None is for what is not about one.
    Raises StatusError."""
    pod = existing(world, PODS, namespace, name)
    if container is not None:
        container_of(pod, container)
    node = node_of(pod)
    if not node:
        raise status.bad_request(f"pod {name} does not have a host assigned")
    return kubelet(world, node, PODS)


def node_of(pod: JsonObject) -> str:
    """Return the node of a pod, empty as long as it has none."""
    return (pod.get("spec") or {}).get("nodeName") or ""


def pod_address(world: Lookups, namespace: str, text: str) -> str:
    """Return the address of a pod. Raises StatusError."""
    target = destination(text, "pod")
    pod = existing(world, PODS, namespace, target.name)
    address = (pod.get("status") or {}).get("podIP") or ""
    _require_address(address)
    return f"{address}:{target.port or _first_port(pod)}"


def container_of(pod: JsonObject, wanted_name: str) -> str:
    """Return the container that is meant; `wanted_name` is empty where the request does not say.
    Raises StatusError 400."""
    name, spec = metadata.name(pod), pod.get("spec") or {}
    names = [
        item["name"]
        for field in ("initContainers", "containers", "ephemeralContainers")
        for item in spec.get(field) or ()
    ]
    if wanted_name:
        if wanted_name not in names:
            raise status.bad_request(f"container {wanted_name} is not valid for pod {name}")
        return wanted_name
    main = [container["name"] for container in spec.get("containers") or ()]
    if len(main) == 1:
        return str(main[0])
    reason = f"a container name must be specified for pod {name}"
    raise status.bad_request(f"{reason}, choose one of: [{' '.join(names)}]" if main else reason)


# --- nodes ---


def kubelet(world: Lookups, node: str, gvr: GroupVersionResource) -> str:
    """Return the address of a node's kubelet. `gvr` is the resource of the request: a server names
    it in each 404, whatever is missing on the way. Raises StatusError: 404, or 500 for a node
    without addresses."""
    node_object = world.get(NODES, "", node)
    if node_object is None:
        raise status.not_found(gvr.group_resource, node)
    state = node_object.get("status") or {}
    addresses = state.get("addresses") or ()
    by_type = {address.get("type"): address.get("address") for address in reversed(addresses)}
    kubelet_address = next(
        (by_type[address_type] for address_type in ADDRESS_TYPES if by_type.get(address_type)), None
    )
    if kubelet_address is None:
        listed = " ".join(
            f"{{{address.get('type')} {address.get('address')}}}" for address in addresses
        )
        raise status.plain_error(f"no preferred addresses found; known addresses: [{listed}]")
    port = ((state.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port")
    return f"{kubelet_address}:{port or KUBELET_PORT}"


def node_address(world: Lookups, text: str) -> str:
    """Return the address of a node. Raises StatusError."""
    target = destination(text, "node")
    host, _, port = kubelet(world, target.name, NODES).rpartition(":")
    return f"{host}:{target.port or port}"


# --- services ---


def service_address(world: Lookups, namespace: str, text: str) -> str:
    """Return the address of a service. Raises StatusError: 404 also for a service of which nobody
    has said what is behind it, 503 where nothing is."""
    target = destination(text, "service")
    service = existing(world, SERVICES, namespace, target.name)
    port = _service_port(service, target)
    slices = [
        endpoint_slice
        for endpoint_slice in world.list(ENDPOINT_SLICES, namespace)
        if metadata.labels(endpoint_slice).get(SERVICE_LABEL) == target.name
    ]
    if not slices:
        raise status.not_found(SERVICES.group_resource, target.name)
    ready = next(_ready(slices, port), None)
    if ready is None:
        reason = f"no endpoints available for service {quote(target.name)}"
        raise status.service_unavailable(reason)
    return ready


def _service_port(service: JsonObject, target: Destination) -> str:
    """Return the name of the port. Raises StatusError 503 for a number that the service does not
    have."""
    try:
        number = parse_int(target.port)
    except ValueError:
        return target.port
    ports = (service.get("spec") or {}).get("ports") or ()
    names = [port.get("name") or "" for port in ports if port.get("port") == number]
    if not names:
        reason = f"no service port {target.port} found for service {quote(target.name)}"
        raise status.service_unavailable(reason)
    return str(names[0])


def _ready(slices: Iterable[JsonObject], port: str) -> Iterator[str]:
    """Addresses of what is behind a port; a port without a name is an empty one."""
    for slice_ in slices:
        ports = slice_.get("ports") or ()
        numbers = [element.get("port") for element in ports if (element.get("name") or "") == port]
        for endpoint in slice_.get("endpoints") or () if numbers else ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                yield f"{endpoint['addresses'][0]}:{numbers[0]}"


# --- addresses ---


def _require_address(text: str) -> None:
    """Refuse addresses that other machines do not reach. Raises StatusError 400."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise status.bad_request("address not allowed") from None
    if (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
        or str(address) == "255.255.255.255"
    ):
        raise status.bad_request("address not allowed")


def _first_port(pod: JsonObject) -> int:
    for container in (pod.get("spec") or {}).get("containers") or ():
        if container.get("ports"):
            return int(container["ports"][0]["containerPort"])
    return HTTP_PORT


def refused(address: str) -> str:
    """Return what Go says of a port where nobody listens."""
    return f"dial tcp {address}: connect: connection refused"


@dataclass(frozen=True, slots=True)
class Connector:
    """Connections of one server."""

    world: World
    admission: Admission
    has_gate: Callable[[str], bool]
    """Whether a feature gate is on."""

    async def refused(self, call: Call) -> StatusError:
        """Return why there is no connection. Raises StatusError for what is wrong with the request,
        Denied."""
        if "dryRun" in call.request.query:
            raise status.bad_request("dryRun is not supported")
        options = _options(call)
        admitted = await self.admission.admit(call, Operation.CONNECT, options, None)
        # Aside: of a Service, all slices of its namespace are looked through.
        return await call.work.step(self._refusal, call, admitted or options, aside=True)

    def _refusal(self, call: Call, options: JsonObject) -> StatusError:
        namespace, name = call.target.namespace, call.target.name
        match call.target.kind.kind:
            case "PodExecOptions" | "PodAttachOptions":
                container = options.get("container", "")
                address = kubelet_of(self.world, namespace, name, container)
                return _no_stream(call.request, address)
            case "PodPortForwardOptions":
                address = kubelet_of(self.world, namespace, name, None)
                return _no_stream(call.request, address)
            case "PodProxyOptions":
                return _no_answer(pod_address(self.world, namespace, name))
            case "ServiceProxyOptions":
                return _no_answer(service_address(self.world, namespace, name))
        return _no_answer(node_address(self.world, name))


def _options(call: Call) -> JsonDict:
    try:
        return request_bodies.connect_options(
            call.target.kind, call.request.query, _path_behind(call.info)
        )
    except ValueError as error:
        raise status.bad_request(str(error)) from None


def _path_behind(info: RequestInfo) -> str:
    """Return what follows the subresource: with a slash before it, and behind it if there is
    one."""
    path = f"/{info.rest}" if info.rest else ""
    return f"{path}/" if info.path.endswith("/") and not path.endswith("/") else path


def _no_stream(request: HttpRequest, address: str) -> StatusError:
    if "upgrade" not in request.header("connection").lower():
        return status.bad_request("Upgrade request required")
    return status.plain_error(f"error dialing backend: {refused(address)}")


def _no_answer(address: str) -> StatusError:
    return status.service_unavailable(f"error trying to reach service: {refused(address)}")


# --- Pod logs ----------------------------------------------------------------
#
# The logs of a pod: nothing as long as it has no node, then a node that does not answer.
#
# As k8s.io/kubernetes `pkg/registry/core/pod/rest/log.go` and `ValidatePodLogOptions`.

LOG: Final = "log"
_OPTIONS: Final = GroupKind("", "PodLogOptions")
_REPRESENTATIONS: Final = ("text/plain", *BUILT_IN_TYPES)
_STREAMS: Final = ("All", "Stdout", "Stderr")
_AT_LEAST_1: Final = "must be greater than 0"
SPLIT_STREAMS: Final = "PodLogsQuerySplitStreams"


def pod_log(call: Call, world: World, *, split_streams: bool) -> HttpAnswer:
    """`split_streams` tells whether one of them may be asked for. Raises StatusError. Who accepts
    nothing but plain text gets no log: upstream negotiates as if it were an object."""
    require_route(call.request, _REPRESENTATIONS)
    accepted(call.request, BUILT_IN_TYPES, routed=False, tables=False)
    namespace, name = call.target.namespace, call.target.name
    options = _pod_logs_options(call.request.query)
    errors = [*_errors(options), *(_stream_errors(options, split_streams=split_streams))]
    if errors:
        raise status.invalid(_OPTIONS, name, errors)
    pod = existing(world, PODS, namespace, name)
    container = container_of(pod, options.get("container", ""))
    node = node_of(pod)
    if not node:
        return HttpAnswer(204)
    address = kubelet(world, node, PODS)
    url = f"https://{address}/containerLogs/{namespace}/{name}/{container}"
    raise status.plain_error(f'Get "{url}": {refused(address)}')


def _pod_logs_options(query: Mapping[str, Sequence[str]]) -> JsonDict:
    """Return the options that matter here. Raises StatusError 400."""
    options = {}
    for name, convert in _PARAMETERS.items():
        if query.get(name):
            try:
                options[name] = convert(query[name][0])
            except (ValueError, TimeError) as error:
                raise status.bad_request(str(error)) from None
    return options


_PARAMETERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "container": str,
    "tailLines": parse_int,
    "limitBytes": parse_int,
    "sinceSeconds": parse_int,
    "sinceTime": canonical_time,
    "stream": str,
}


def _errors(options: JsonObject) -> Iterator[FieldError]:
    for name, least, detail in (("tailLines", 0, NEGATIVE), ("limitBytes", 1, _AT_LEAST_1)):
        if options.get(name, least) < least:
            yield fieldpath.invalid(FieldPath(name), options[name], detail)
    if "sinceSeconds" in options and "sinceTime" in options:
        detail = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        yield fieldpath.forbidden(FieldPath(""), detail)
    elif options.get("sinceSeconds", 1) < 1:
        yield fieldpath.invalid(FieldPath("sinceSeconds"), options["sinceSeconds"], _AT_LEAST_1)


def _stream_errors(options: JsonObject, *, split_streams: bool) -> Iterator[FieldError]:
    path, stream = FieldPath("stream"), options.get("stream")
    if stream is None or not is_since("1.32"):
        return
    if not split_streams:
        yield fieldpath.forbidden(path, "may not be specified")
        return
    if stream not in _STREAMS:
        yield fieldpath.not_supported(path, stream, _STREAMS)
    if stream != _STREAMS[0] and "tailLines" in options:
        detail = "`tailLines` and specific `stream` are mutually exclusive for now"
        yield fieldpath.forbidden(FieldPath(""), detail)
