"""The audit log: who asked for what, and what became of it, one JSON line for each stage.

Read first `audit_policy` (what is recorded of which request), then `audit_events` (how an event
looks) and `audited_handler` (where they are made). As k8s.io/apiserver `pkg/audit`.
"""
