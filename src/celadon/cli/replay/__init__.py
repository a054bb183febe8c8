"""`celadon replay`: what policies would have said to requests in an audit log, and what was said.

Read `audit_logs` (files to events), `cloud_wrappers` (events as clouds pack them),
`logged_requests` (an event to the request that it tells of, or why it cannot be told),
`event_replay` (one event), `replay_findings` (what came of many), `replay_run`.
"""
