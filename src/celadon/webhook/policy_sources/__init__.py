"""Where policies come from, and how a set of them is replaced by the next one as a whole.

Read `watched_files`. Policies from a cluster are in `celadon.webhook.cluster`.
"""

from celadon.webhook.deciding.rulebook import MutationRules, PolicySource, Rulebook, SourceState
from celadon.webhook.policy_sources.watched_files import LoadError, WatchedFiles

__all__ = ["LoadError", "MutationRules", "PolicySource", "Rulebook", "SourceState", "WatchedFiles"]
