"""Calling admission webhooks: the network side of `celadon.admission.webhooks`.

`webhook_phases` asks the hooks of a request through whatever can make a call; `webhook_client` is
what does so over HTTP. Below it: `go_network` (connections whose failures are told in the words of
Go, since clients of the API see them), `certificate_failures` and `trusted_roots` (TLS likewise),
`service_routes` (where a service is).
"""
