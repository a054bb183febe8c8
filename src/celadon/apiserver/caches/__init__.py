"""Caches that the store keeps current: resources, policies, roles, networks.

A view is refreshed when it is asked, from events that wait in the process: a write that has been
acknowledged is seen by the very next request. Read `store_informers` first.
"""
