#!/bin/bash
# Runs the example (its path is the argument) on the interpreter and on the first device: it checks the
# values itself, and the pass must have found the relu.
set -euo pipefail
for device in reference ""; do
  out=$("$1" $device)
  grep -q '= max ' <<< "$out"
  grep -q '^select-to-max.selects = 1$' <<< "$out"
  [[ $(grep -c '^y\[' <<< "$out") == 12 ]]
done
# An unknown device is an error.
if "$1" nonsense > /dev/null 2>&1; then exit 1; fi
