"""What an operator sets and sees: limits, metrics, features.

Read first `request_limits` (how much at once, how long), then `server_metrics` (what `/metrics`
shows).
"""
