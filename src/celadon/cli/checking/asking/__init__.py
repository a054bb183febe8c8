"""One object on its way through the chain, and the webhooks that it would be sent to.

Read `object_chain`, then where the answers of webhooks come from: `recorded_answers` (files) and
`real_calls` (the webhooks themselves). `webhook_documents` has the configurations that were given,
`said` what comes of it all.
"""
