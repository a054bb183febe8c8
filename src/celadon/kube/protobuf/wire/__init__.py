"""What lies below messages: the wire format, single values, and the errors of both.

Read `wire_format` first, then `payloads` and `wire_scalars`, which name all that a field can hold
besides messages.
"""
