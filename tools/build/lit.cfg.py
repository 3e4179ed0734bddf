"""lit's configuration for every lit_tests() target; lit_runner.py lays out the folders it names."""

import os

import asserting_format

scratch = os.environ["TG_LIT_SCRATCH"]

config.name = "tg"
config.test_format = asserting_format.AssertingShTest()
config.suffixes = [".uop", ".repr"]
config.test_source_root = os.path.join(scratch, "suite")
config.test_exec_root = os.path.join(scratch, "out")

# Tests see the environment of the Bazel test, but not what Bazel and gtest read from it.
for name, value in os.environ.items():
    if not name.startswith(("TEST_", "GTEST_", "XML_OUTPUT_FILE", "TESTBRIDGE_")):
        config.environment[name] = value
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(scratch, "bin"), "/usr/local/bin", "/usr/bin", "/bin"]
)
