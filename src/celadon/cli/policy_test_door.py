"""The door to tests of policies, for `celadon.testing`: they are read, run, and told about."""

from celadon.cli.options import VERSIONS
from celadon.cli.policytest.case_results import CaseResult, Status, plain_document
from celadon.cli.policytest.case_running import RunOptions, run_test
from celadon.cli.policytest.file_tests import read_test
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
