#!/bin/sh
# Builds tg-run and recognises handwritten digits: one held-out picture, then the whole held-out set.
set -eu
cd "$(dirname "$0")/.."
bazel build --config=opt --config=units //tools:tg-run
run="$(bazel info --config=opt --config=units bazel-bin 2>/dev/null)/tools/tg-run"
cd testdata/digits
"$run" digits.uop --input x=digit.npy --show x --classify logits
"$run" digits_heldout.uop --input x=heldout_images.npy --verbose=2 \
  --classify logits --labels heldout_labels.npy --min-accuracy=0.98 \
  --expect logits=heldout_logits.npy:1e-5
