"""What a server says about itself: its groups and kinds, their schemas, its version and health.

Read first `discovery_documents` (what there is, in which order). OpenAPI is in `openapi` (types and
paths), `custom_types` (those of definitions), `descriptions` (texts), `openapi_documents` (version
3), `swagger` (version 2), `openapi_protobuf` (both) and `openapi_answers`. Requests for all of that
come to `publication_answers`; `server_pages` has version and health. Handlers are plain functions
from a request to an answer. Documents are made when first asked for, and stay until the catalogue
changes.
"""
