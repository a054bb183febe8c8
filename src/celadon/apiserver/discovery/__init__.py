"""What a server says about itself: its groups and kinds, their schemas, its version and health.

Read first `published_apis` (what there is, in which order), then `discovery` and `openapi`, which
answer requests for it. Handlers are plain functions from a request to an answer. Documents are made
when first asked for, and stay until the catalogue changes.
"""
