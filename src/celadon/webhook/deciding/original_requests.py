"""A review as the API server's own policies would see the request.

For a webhook, the API server converts objects to the version that a rule of the webhook names. Its
own policies match the request as the client sent it, and each gets the objects in the version that
a rule of its own names. So the conversion is undone first; the engine makes those that policies
ask for.
"""

from __future__ import annotations

import dataclasses

from celadon.admission import ConversionError, Request, World


def original_request(request: Request, world: World) -> Request:
    """The same request if nothing was converted, or nobody knows how to convert it back."""
    kind = request.original_kind
    resource = request.original_resource
    if kind == request.kind and resource == request.resource:
        return request
    obj, old = request.object, request.old_object
    try:
        return dataclasses.replace(
            request,
            kind=kind,
            resource=resource,
            subresource=request.original_subresource,
            object=None if obj is None else world.convert(obj, kind),
            old_object=None if old is None else world.convert(old, kind),
            size=None,
        )
    except ConversionError:
        return request
