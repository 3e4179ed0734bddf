"""lit's shell test format, made to refuse tests that assert nothing."""

import lit.formats
import lit.Test

import run_lines


class AssertingShTest(lit.formats.ShTest):
    """RUN lines, run by lit's own shell; FAIL for a file that cannot fail."""

    def __init__(self):
        super().__init__(execute_external=False)

    def execute(self, test, lit_config):
        with open(test.getSourcePath(), errors="replace") as source:
            problem = run_lines.problem(source.read())
        if problem:
            return lit.Test.Result(lit.Test.FAIL, "%s %s" % (test.getFullName(), problem))
        return super().execute(test, lit_config)
