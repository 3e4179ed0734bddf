#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include "ir/accuracy.h"
#include "tools/reference_docs.h"

namespace tg {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// "0.50049", "3", "inf".
std::string Number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

// Joins the lines of a composition into one line.
std::string Formula(std::string_view body) {
  std::string out;
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find('\n', at);
    std::string line(body.substr(at, end - at));
    at = end + 1;
    line.erase(0, line.find_first_not_of(' '));
    if (const size_t type = line.find(" : $t"); type != std::string::npos) line.erase(type);
    out += (out.empty() ? "" : "; ") + line;
  }
  return "`" + out + "`";
}

struct CompositionRow {
  std::string_view name, body;
  double low, high;
  std::string_view unit;
  double f16, bf16, f32, f64;
};
constexpr CompositionRow kCompositions[] = {
#define TG_COMPOSITION(...) {__VA_ARGS__},
#include "tools/accuracy/compositions.def"
#undef TG_COMPOSITION
};

}  // namespace

std::string AccuracyPage() {
  std::string out = R"(# Accuracy of mathematical functions

<!-- Made by //tools:tg-docs from the tables in the code; //tools:reference_docs_test compares. -->

The greatest distance from the exact value, in units of the last place (ulp) of the exact value: 0.5 is what rounding
costs. Below the normal numbers the unit is that of the smallest of them.

`//tools/accuracy:accuracy_test` measures every row against MPFR through the whole pipeline: on all values of types of up
to 16 bits; in f32 and f64 on samples of every exponent, of subnormals and special values, of the neighbourhoods of
multiples of pi/2, of powers of two and of the ends of the range, and on random bits. Vectors and scalars, lanes in
random order, with and without contraction. The tool does the same at length:

```
bazel run --config=opt //tools:tg-accuracy -- --samples=10000000
bazel run --config=opt //tools:tg-accuracy -- --function=sin --type=f32 --by=own --exhaustive   # all 2^32
```

## Ops

| column | who computes |
| --- | --- |
| OpenCL | the device, as OpenCL's full profile demands it, where f32 has subnormals, and division and square root of f32 are rounded correctly, which tg asks for. A device that cannot has 2.5 and 3 ulp for those two |
| PoCL | the same, PoCL 3.1 on a CPU |
| own | tg, written out in arithmetic, for devices whose functions are not trusted: `--target=cl-plain`, the pass option `devectorize:functions=own`, or `Target::own_functions`, function by function. On a device that keeps subnormals |
| interpreter | what a module means; `--check` and the fuzzer allow a device the sum of this and the greatest of the others |

NaN, infinities and signs of zeros are as in C everywhere. Types narrower than f32 are computed in f32 and rounded, so
nearly all of their results are those of one rounding. PoCL keeps subnormals of f32 and f64, as arguments and as
results. A device that flushes subnormals of f32 gives 0 there, whoever
computes, save for `log2`, `sqrt`, `recip` and `div` written out, which are done in integers where it matters.

| op | type | OpenCL | PoCL | own | interpreter |
| --- | --- | --- | --- | --- | --- |
)";
  for (const Accuracy& a : Accuracies()) {
    out += "| `" + std::string(Mnemonic(a.op)) + "` | " +
           std::string(GetScalarInfo(a.scalar).text) + " | " + Number(a.opencl) + " | " +
           Number(a.pocl) + " | " + Number(a.own) + " | " + Number(a.interpreter) + " |\n";
  }
  out += R"(
## What is built of them

tinygrad has no ops for these; its graphs spell them as below. What they lose is lost in the steps: an
exponent of 80 has few digits left behind the point. Bounds hold on PoCL for its own functions and for tg's, and in the
interpreter. Unit *one*: of the last place of 1 where the exact value is less, since these end in a difference.

| function | of | arguments | unit | f16 | bf16 | f32 | f64 |
| --- | --- | --- | --- | --- | --- | --- | --- |
)";
  for (const CompositionRow& c : kCompositions) {
    out += "| " + std::string(c.name) + " | " + Formula(c.body) + " | " +
           (c.low < 0 ? Number(c.low) : "above 0") +
           (c.high == kInf ? "" : " to " + Number(c.high)) + " | " + std::string(c.unit) + " | " +
           Number(c.f16) + " | " + Number(c.bf16) + " | " + Number(c.f32) + " | " + Number(c.f64) +
           " |\n";
  }
  return out;
}

}  // namespace tg
