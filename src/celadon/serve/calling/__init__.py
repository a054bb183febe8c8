"""Calling admission webhooks: the network side of `celadon.admission.webhooks`.

`webhook_phases` asks the hooks of a request through whatever can make a call; `webhook_client` is
what does so over HTTP, on connections of `serve/outgoing`. `service_routes` knows where a service
is.
"""
