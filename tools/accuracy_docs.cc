#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include "ir/accuracy.h"
#include "tools/reference_docs.h"

namespace tg::tools {
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

struct OperatorRow {
  std::string_view domain, op, attribute, arguments, unit;
  double f16, bf16, f32, f64;
};
constexpr OperatorRow kOperators[] = {
#define TG_OPERATOR(...) {__VA_ARGS__},
#include "tools/accuracy/operators.def"
#undef TG_OPERATOR
};

}  // namespace

std::string AccuracyPage() {
  std::string out = R"(# Accuracy of mathematical functions

<!-- Made by //tools:tg-docs from the tables in the code; //tools:reference_docs_test compares. -->

The tables give bounds of errors: the greatest distance from the exact value, in units in the last place (ulp) of the
exact value. Rounding alone causes 0.5. For subnormal values the unit is that of the smallest normal number.

`//tools/accuracy:accuracy_test` measures every row against MPFR through the whole pipeline: on all values of types of up
to 16 bits; in f32 and f64 on samples of every exponent, of subnormals and special values, of the neighbourhoods of
multiples of pi/2, of powers of two and of the ends of the range, and on random bits. It tests vectors and scalars, lanes
in random order, with and without contraction. The tool measures with more samples:

```
bazel run --config=opt //tools:tg-accuracy -- --samples=10000000
bazel run --config=opt //tools:tg-accuracy -- --function=sin --type=f32 --by=own --exhaustive   # all 2^32
```

## Ops

| column | who computes |
| --- | --- |
| OpenCL | the device's function, within the bounds that OpenCL's full profile demands, if f32 has subnormals, and if division and square root of f32 are rounded correctly, which tg requests. A device that cannot do so has 2.5 and 3 ulp for these two |
| PoCL | the function of PoCL 3.1 on a CPU |
| own | tg's expansion into arithmetic, for devices whose functions are not trusted: `--target=cl-plain`, the pass option `devectorize:functions=own`, or `Target::own_functions`, function by function. On a device that keeps subnormals |
| interpreter | the interpreter, which defines the meaning of a module; `--check` and the fuzzer allow a device the sum of this bound and the greatest of the others, and for `div`, `recip` and `sqrt` this bound alone |

NaN, infinities and signs of zeros are as in C everywhere. Types narrower than f32 are computed in f32 and rounded, so
nearly all of their results are correctly rounded. PoCL keeps subnormals of f32 and f64, as arguments and as results.
A device that flushes subnormals of f32 gives 0 for them, with its own functions and with tg's expansions. The exceptions
are the expansions of `log2`, `sqrt`, `recip` and `div`, which use integers where it matters.

Where a GPU's matrix instructions sum products of f32, they take each factor [in two parts](design.md): a product has an
error of 2^-19 of itself at most, 2^-22 on average, and of 2^-136 of the other factor where one is below 2^-115. Sums of
these products are rounded like others. With the flag `no-reassociate` there are multiply-adds. With the flag `tf32`
(`--allow=tf32`), each factor is rounded once, to 10 bits of mantissa, to the nearest or towards zero: a product has an
error of some 2^-9 of itself at most, and of 2^-136 of the other factor where one is below 2^-126; a factor of
2^128 - 2^116 or more may be infinite.

| op | type | OpenCL | PoCL | own | interpreter |
| --- | --- | --- | --- | --- | --- |
)";
  for (const Accuracy& a : Accuracies()) {
    out += "| `" + std::string(Mnemonic(a.op)) + "` | " +
           std::string(GetScalarInfo(a.scalar).text) + " | " + Number(a.opencl) + " | " +
           Number(a.pocl) + " | " + Number(a.own) + " | " + Number(a.interpreter) + " |\n";
  }
  out += R"(
## Convolutions by tiles

With the module's flag `winograd`, and by predicted cost, a sum of f32 over channels and a window of 3x3 is computed for
2x2 or 4x4 neighbouring results together, from a tile of 4x4 or 6x6 inputs: products of transformed tiles and
transformed weights, transformed back. In exact arithmetic that is the same sum. Transforms subtract, so that the
error is relative to the greatest inputs of a tile and not to each result's own terms:

```
|error| <= (C + 36) * 2^-24 * g * sum over the C channels of max |input| * max |weight|
```

where g is 64 for tiles of 2x2, 2304 for tiles of 4x4 (the square of the greatest element of |A| (|G| 1 * |B| 1), with
the matrices A, G and B of `passes/kernelize/winograd.cc`), and 36 counts the roundings of the transforms.

The root of the mean square error, in that of the results, against f64, of 64 to 512 channels of normal
numbers: 4.3e-7 to 8.3e-7 as written, 5.0e-7 by tiles of 2x2 (256 channels: 0.6 of the error as written, since sums
are shorter), 1.7e-6 to 4.5e-6 by tiles of 4x4. An infinity or NaN reaches all results of its tile.
`--check` allows what the bound allows, with the greatest sum of magnitudes of a result in place of the greatest factors.

## Compositions

tinygrad has no ops for these functions; its graphs express them as below. Their errors come from the intermediate
roundings: for example, an exponent of 80 has few digits after the point. The bounds hold on PoCL, for its own functions
and for tg's expansions, and in the interpreter. Unit *one*: for exact values below 1, the unit is that of the last place
of 1, since these functions end in a difference.

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
  out += R"(
## Operators of ONNX

Operators of ONNX on floats are made of the ops above. `//tools/accuracy:operators_test` measures them like the ops, from
the model on: the bounds hold on PoCL, for its own functions and for tg's expansions, and in the interpreter. Arguments
*half*: those whose magnitude is below half of the greatest number. NaN, infinities and signs of zeros are those of the
operator's formula. The same test compares exact operators with their definitions, and reductions and scans with sums
in long double: `ReduceSum` and its like may differ by the rounding of one addition for each element.

| operator | arguments | unit | f16 | bf16 | f32 | f64 |
| --- | --- | --- | --- | --- | --- | --- |
)";
  for (const OperatorRow& o : kOperators) {
    out += "| " + std::string(o.domain) + (o.domain.empty() ? "" : ".") + std::string(o.op) +
           (o.attribute.empty() ? "" : ", " + std::string(o.attribute)) + " | " +
           std::string(o.arguments) + " | " + std::string(o.unit) + " | " + Number(o.f16) + " | " +
           Number(o.bf16) + " | " + Number(o.f32) + " | " + Number(o.f64) + " |\n";
  }
  return out;
}

}  // namespace tg::tools
