"""The door to tests of policies, for `celadon.testing`: they are read, run, and told about."""

from celadon.cli.policy_tests.case_results import CaseResult, Status
from celadon.cli.policy_tests.case_running import RunOptions, run_test
from celadon.cli.policy_tests.policy_test import plain_document
from celadon.cli.policy_tests.written_tests.file_tests import read_test
from celadon.cli.release_option import VERSIONS
from celadon.cli.report.case_view import explained_plainly

__all__ = [
    "VERSIONS",
    "CaseResult",
    "RunOptions",
    "Status",
    "explained_plainly",
    "plain_document",
    "read_test",
    "run_test",
]
