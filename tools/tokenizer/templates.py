"""Compares what tg makes of chat templates with Python's jinja2, or writes what jinja2 makes of them.

    templates.py --render=bazel-bin/tools/tokenizer/render --cases=CASES.json TEMPLATE...
    templates.py --write=EXPECTED.json --cases=CASES.json TEMPLATE...
    templates.py --write=EXPECTED.json --snippets=SNIPPETS.json

jinja2 is set up as the package transformers does. The clock says that nothing has passed since 1970. Needs the package jinja2.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    """{% generation %}, which changes nothing."""
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.datetime(1970, 1, 1).strftime(form)
    return env


def sorted_keys(value):
    """`value` with the keys of dictionaries in alphabetical order, as tg's test reads JSON."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


def render(text, cases):
    """The texts, None where jinja2 raises."""
    template = environment().from_string(text)
    texts = []
    for variables in cases:
        try:
            texts.append(template.render(**sorted_keys(variables)))
        except Exception as error:  # whatever it is, tg must refuse the case too
            texts.append(None)
            if os.environ.get("SHOW_ERRORS"):
                print(repr(error))
    return texts


def render_snippets(path):
    """The text of each snippet with the file's variables."""
    with open(path) as source:
        data = json.load(source)
    texts = []
    for snippet in data["snippets"]:
        try:
            texts += render(snippet, [data["variables"]])
        except Exception:  # a syntax error, which tg must refuse too
            texts.append(None)
    return texts


def write_json(value, path):
    with open(path, "w") as out:
        json.dump(value, out, indent=1, ensure_ascii=False, sort_keys=True)
        out.write("\n")


def compare(arguments, cases):
    failed = 0
    equal = 0
    for path in arguments.templates:
        with open(path, newline="") as source:
            theirs = render(source.read(), cases)
        run = subprocess.run([arguments.render, path, arguments.cases], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            print("%s: %s" % (path, run.stderr.strip()))
            failed += 1
            continue
        for number, (their, our) in enumerate(zip(theirs, json.loads(run.stdout))):
            if their == our:
                equal += 1
                continue
            failed += 1
            reasons = [line for line in run.stderr.split("\n") if ", case %d:" % number in line]
            print("%s, case %d: %s\n  jinja2 %r\n  tg     %r" % (path, number, reasons, their, our))
    print("%d equal, %d differ" % (equal, failed))
    return failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--render")
    parser.add_argument("--write")
    parser.add_argument("--cases")
    parser.add_argument("--snippets")
    parser.add_argument("templates", nargs="*")
    arguments = parser.parse_args()
    if arguments.snippets:
        write_json(render_snippets(arguments.snippets), arguments.write)
        return 0
    with open(arguments.cases) as source:
        cases = json.load(source)
    if arguments.render:
        return compare(arguments, cases)
    expected = {}
    for path in sorted(arguments.templates):
        with open(path, newline="") as source:
            expected[os.path.basename(path)] = render(source.read(), cases)
    write_json(expected, arguments.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
