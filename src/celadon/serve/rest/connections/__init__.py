"""Connections through the server to containers and services, and their logs: `connecting` is the
way to them, `backends` what is at the other end. This server reaches no nodes: it asks admission,
and refuses as a server does whose nodes do not answer."""
