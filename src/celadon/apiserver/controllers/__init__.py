"""The few controllers without which an API is unusable, inside the server and on its own store.

Read `controller_loops` (the engine), `server_controllers` (all of them), then one at a time. What
an object should become is a pure function in a module of its own where it is more than a line.
`custom_resource_definitions` is about CustomResourceDefinitions.
"""
