"""`celadon replay`: what policies would have said to requests in an audit log, and what was said.

Read `audit_logs` (files to events, also as clouds pack them, and an event to the request that it
tells of, or why it cannot be told), then `replay_run` (one event, all of them, and what came of
many).
"""
