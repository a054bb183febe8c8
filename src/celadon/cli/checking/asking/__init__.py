"""The webhooks that an object would be sent to: which, and what they say to it.

Read `webhook_rounds` (a request on its way through them), then where answers come from:
`recorded_answers` (files) and `real_calls` (the webhooks themselves). `webhook_documents` has the
configurations that were given.
"""
