#include <algorithm>
#include <map>
#include <string>

#include "frontend/onnx/operators.h"
#include "tools/reference_docs.h"

namespace tg::tools {

std::string OnnxPage() {
  std::string page = R"(# ONNX operators

Made by `tg-docs onnx` from the tables of [frontend/onnx](../frontend/onnx/operators.h). How to run a model:
[running-models.md](running-models.md).

The number is the oldest opset that is supported; for `ai.onnx`, opsets up to 28 are. A model with operators that are
not listed is refused with one error that names all such nodes.

The following holds for all operators:

- Sums of `float16` and `bfloat16` are computed in `float`.
- [accuracy.md](accuracy.md#operators-of-onnx) bounds the errors of functions.
- `ArgMax`, `ArgMin` and `Hardmax` take the first NaN of a row that has one (`select_last_index`: the last one), as numpy
  does; `TopK` takes NaN as greater than any number.
- Codes of `DynamicQuantizeLinear` and its relatives are rounded from sums whose last bits differ between runtimes. A
  recurrence carries a code that is rounded the other way through all steps: in f64 too, with states that differ by 1e-7,
  results of a layer of 80 steps differ by up to a third of the largest.
- An index outside of its axis gives 0 in `Gather`. Of several updates that a `Scatter` without reduction has for one
  element, the last one counts.
- A symbolic bound of a `Slice` must be inside the axis in every run. A `Squeeze` without axes keeps a symbolic extent,
  which is then at least 2; a run that is given 1 is compiled for 1.
- A value that decides a shape follows from constants, from the sizes of inputs, or from small inputs whose contents
  tg-run is given. Other integers that decide shapes, and the numbers of results of `NonZero`, `Compress`, `Unique` and
  `NonMaxSuppression`, are [measured](sizes.md#sizes-that-depend-on-data) in each run. Where neither is possible, the
  import fails, with an error that names the node and the number of its input.
- A `Loop`, `Scan` or recurrence of more than 8 iterations is a [loop](ir.md#loops) whose iterations share kernels; its
  length may be symbolic. A `Loop` whose condition counts up to a size (`i + 1 < n`, as TensorFlow writes loops) has
  that length. Where it ends may depend on data, if it stacks no results. A loop whose values change their shapes, or
  that decides shapes by the number of the iteration, is unrolled, up to 4096 iterations. A model has up to 2^20 nodes
  with functions and unrolled loops expanded, a tensor up to 2^48 elements.
- Where the condition of an `If` depends on data, one branch runs, or both if they are small. The extents of a result may
  differ between the branches, its type and rank may not.
- Sequences and optionals are resolved when the model is read; tensors of strings, and maps, are errors.
- Types that the IR lacks are held in a wider one: `int4` and `int2` in `i8`, `uint4` and `uint2` in `u8`, `float4e2m1`,
  `float8e8m0` and the `fnuz` forms of `float8` in `f32`.

)";
  std::map<std::string, std::vector<const onnx::Operator*>> domains;
  for (const onnx::Operator* op : onnx::AllOperators()) {
    domains[op->domain.empty() ? "ai.onnx" : std::string(op->domain)].push_back(op);
  }
  for (auto& [domain, operators] : domains) {
    std::sort(operators.begin(), operators.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    page += "## " + domain + "\n\n| operator | from opset |\n| --- | --- |\n";
    for (const onnx::Operator* op : operators) {
      page += "| " + std::string(op->name) + " | " + std::to_string(op->since) + " |\n";
    }
    page += "\n";
  }
  page.pop_back();
  return page;
}

}  // namespace tg::tools
