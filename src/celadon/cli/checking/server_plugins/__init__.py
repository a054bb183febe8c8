"""The built-in admission plugins of a server, asked about objects from files.

`plugin_desk` asks them one request after the other; `quota_ledger` adds up, at the end, what all
requests together use of ResourceQuotas; `plugin_summary` is what a report says about who was asked.
"""
