"""REST as Kubernetes has it: from a request for a resource to its answer.

Read `resource_handler` first: it has a line for every verb. `resource_endpoints` says which
resource is meant, `request_context` holds one request on its way; `read`, `watch`, `write` and
`delete` do the work, `bindings_and_evictions` and `connect` have what is special about pods and
connections, `reviews` answers what is never stored, `write_admission` asks the policies, and
`response_forms` says how the outcome is shown.
"""
