"""What a server says about itself: its groups and kinds, their schemas, its version and health.

Read first `discovery_documents` (what there is, in which order), then `openapi` and `swagger` (the
schemas), `publication_answers` (requests for all of that) and `server_pages` (version and health).
Handlers are plain functions from a request to an answer. Documents are made when first asked for,
and stay until the catalogue changes.
"""
