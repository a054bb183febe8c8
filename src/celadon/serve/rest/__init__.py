"""REST as Kubernetes has it: what a request is about, what it asks for, how its answer is written.

`request_info` reads the path, `list_options` the query of reads, `negotiation` the Accept header.
"""
