"""Calling admission webhooks: the network side of `celadon.admission.webhooks`.

`webhook_phases` asks the hooks of a request through whatever can make a call; `webhook_client` is
what does so over HTTP, on connections of `serve/outgoing`. `service_routes` knows where a service
is.
"""

from celadon.serve.calling.caller_on_demand import CallerOnDemand
from celadon.serve.calling.reply_bodies import as_json
from celadon.serve.calling.service_routes import ServiceRoutes

__all__ = ["CallerOnDemand", "ServiceRoutes", "as_json"]
