"""Discovery: a server describes its groups and kinds, their schemas, its version and its health.

Read first `discovery_documents` (what there is, in which order). OpenAPI is in `openapi_paths`
(types and paths), `openapi_descriptions` (texts), `openapi_documents` (version 3, types of
definitions among it), `openapi_protobuf`, `openapi_answers` (version 2, and requests) and
`merged_openapi` (version 2 of several servers). `health_and_version` has version and health; which
request is for which of them, `request_layers` says. Handlers are plain functions from a request to
an answer. Documents are made when first asked for, and stay until the catalogue changes.
"""
