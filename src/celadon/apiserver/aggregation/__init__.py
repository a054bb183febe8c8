"""Group versions that other servers serve: which they are, how they are asked, what they offer.

`api_services` knows the APIServices that name a Service, `front_proxy` passes requests on to it,
`aggregator` keeps what it offers and is all of that for one server; the controller
`api_service_availability` says in their statuses whether it answers.
As k8s.io/kube-aggregator.
"""
