"""REST as Kubernetes has it: from a request for a resource to its answer.

Read `verbs` first: it has a line for every verb. `endpoints` says which resource is meant, `calls`
holds one request on its way; `read`, `watch`, `write` and `delete` do the work, `pods` and
`connect` have what is special about pods and connections, `reviews` answers what is never stored,
`admission_chain` asks the policies, and `forms` says how the outcome is shown.
"""
