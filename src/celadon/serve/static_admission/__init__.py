"""Policies and webhooks from files of the server (`staticManifestsDir`), kept current.

Read `static_source` (one plugin's folder), then `static_files` (all of a server); `manifest_folder`
reads a folder.
"""
