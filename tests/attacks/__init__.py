"""What a hostile client tries, a table for each kind of attempt: nothing gets through.

Each test holds a promise of docs/security.md. How a server behaves under load is in tests/faults.
"""
