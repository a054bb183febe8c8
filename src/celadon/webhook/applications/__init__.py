"""ASGI applications in place of policies: webhooks written in Python, served as policies are.

Read `application_answers` (what is counted, limited and refused around an application), then
`asgi_calls` (one request over ASGI). `named_application` finds what `--app MODULE:NAME` names.
"""

from celadon.webhook.applications.application_answers import run_application
from celadon.webhook.applications.named_application import Application, named_application

__all__ = ["Application", "named_application", "run_application"]
