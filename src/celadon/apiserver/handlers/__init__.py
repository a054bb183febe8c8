"""REST as Kubernetes has it: from a request for a resource to its answer.

Read `verbs` first: it has a line for every verb. `endpoints` says which resource is meant, `calls`
holds one request on its way; `reading`, `watching`, `object_writes`, `deleting` and `reviewing` do
the work, `admitting` asks the policies, `forms` and `answers` say how the outcome is shown.
"""
