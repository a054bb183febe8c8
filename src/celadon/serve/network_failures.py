"""That nobody answered.

It stands apart from what opens connections (`outgoing`), which takes a tenth of a start to load and
is needed when somebody is called.
"""


class NetworkFailure(Exception):
    """Why no answer came."""
