"""Connections: their options are put before admission, then it turns out that nobody answers.

As k8s.io/apiserver `pkg/endpoints/handlers/rest.go` (`ConnectResource`) and k8s.io/kubernetes
`pkg/registry/core/pod/rest/subresources.go`.
"""

from __future__ import annotations

from typing import Any

from celadon.admission import Operation, World
from celadon.kube import JsonObject, StatusError, status
from celadon.kube.registry import request_options
from celadon.records import dataclass
from celadon.serve.http_messages import HttpRequest
from celadon.serve.requests.request_info import RequestInfo
from celadon.serve.rest.admitting.admission_chain import Admission
from celadon.serve.rest.calls import Call
from celadon.serve.rest.connections import backends


@dataclass(frozen=True, slots=True)
class Connector:
    """Connections of one server."""

    world: World
    admission: Admission

    async def refused(self, call: Call) -> StatusError:
        """Why there is no connection. Raises StatusError for what is wrong with the request,
        Denied."""
        if "dryRun" in call.request.query:
            raise status.bad_request("dryRun is not supported")
        options = _options(call)
        admitted = await self.admission.admit(call, Operation.CONNECT, options, None)
        return self._refusal(call, admitted or options)

    def _refusal(self, call: Call, options: JsonObject) -> StatusError:
        namespace, name = call.target.namespace, call.target.name
        match call.target.kind.kind:
            case "PodExecOptions" | "PodAttachOptions":
                container = options.get("container", "")
                address = backends.kubelet_of(self.world, namespace, name, container)
                return _no_stream(call.request, address)
            case "PodPortForwardOptions":
                address = backends.kubelet_of(self.world, namespace, name, None)
                return _no_stream(call.request, address)
            case "PodProxyOptions":
                return _no_answer(backends.pod_address(self.world, namespace, name))
            case "ServiceProxyOptions":
                return _no_answer(backends.service_address(self.world, namespace, name))
        return _no_answer(backends.node_address(self.world, name))


def _options(call: Call) -> dict[str, Any]:
    try:
        return request_options.connect_options(
            call.target.kind, call.request.query, _path_behind(call.info)
        )
    except ValueError as error:
        raise status.bad_request(str(error)) from None


def _path_behind(info: RequestInfo) -> str:
    """What follows the subresource: with a slash before it, and behind it if there is one."""
    path = "/" + "/".join(info.rest) if info.rest else ""
    return f"{path}/" if info.path.endswith("/") and not path.endswith("/") else path


def _no_stream(request: HttpRequest, address: str) -> StatusError:
    if "upgrade" not in request.header("connection").lower():
        return status.bad_request("Upgrade request required")
    return status.plain_error(f"error dialing backend: {backends.refused(address)}")


def _no_answer(address: str) -> StatusError:
    return status.service_unavailable(f"error trying to reach service: {backends.refused(address)}")
