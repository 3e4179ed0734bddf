"""What the RUN lines of a lit file say: does the test assert anything?"""

import re

# Commands that fail when the tool under test prints or does the wrong thing. FileCheck itself fails
# where the file holds no CHECK line for it.
ASSERTING = ("FileCheck", "not", "diff", "cmp")

_RUN = re.compile(r"RUN:(.*?)(?<!\\)\n", re.DOTALL)
_COMMAND = re.compile(r"(?:^|[|;&])\s*(\S+)")


def problem(text):
    """Returns what is wrong with the lit file `text`, or None."""
    runs = _RUN.findall(text + "\n")
    if not runs:
        return "has no RUN line"
    if not any(command in ASSERTING for run in runs for command in _COMMAND.findall(run)):
        return "asserts nothing: no RUN line calls " + ", ".join(ASSERTING)
    return None
