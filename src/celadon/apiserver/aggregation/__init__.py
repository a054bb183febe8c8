"""Group versions that other servers serve: which they are, how they are asked, what they offer.

`api_services` knows the APIServices that name a Service, `front_proxy` passes requests on to it,
`availability` says in their statuses whether it answers, `remote_discovery` keeps what it offers.
As k8s.io/kube-aggregator.
"""
