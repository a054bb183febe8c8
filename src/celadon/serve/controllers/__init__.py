"""The few controllers without which an API is unusable, inside the server and on its own store.

Read `controller_loops` (the engine), `server_controllers` (all of them), then one at a time. What
an object should become is a pure function in a module of its own where it is more than a line.
"""

from celadon.serve.controllers.controller_loops import Controllers
from celadon.serve.controllers.namespace_deletion import GRACE_SECONDS
from celadon.serve.controllers.server_controllers import (
    ControllerSurroundings,
    server_controllers,
)

__all__ = ["GRACE_SECONDS", "ControllerSurroundings", "Controllers", "server_controllers"]
