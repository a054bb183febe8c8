"""`celadon replay`: what policies would have said to requests in an audit log, and what was said.

Read `audit_logs` (files to events, also as clouds pack them), `logged_requests` (an event to the
request that it tells of, or why it cannot be told), `replay_findings` (what came of many) and
`replay_run` (one event, and all of them).
"""
