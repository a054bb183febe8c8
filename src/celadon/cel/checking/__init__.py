"""Parsed tree to checked tree: every node gets a type, every name and call its declaration.

Read `checker` first. It looks names up in a `scope` and asks `overload_resolution` which overloads
can be meant and whether types fit. `validators` are checks after the types are known; every text is
in `check_messages`.
"""
