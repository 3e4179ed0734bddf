#include "codegen/opencl/prelude.h"

#include "absl/strings/str_cat.h"
#include "codegen/opencl/types.h"

namespace tg::opencl {

void Prelude::UsesScalar(Scalar s) {
  fp16_ |= s == Scalar::kF16;
  fp64_ |= s == Scalar::kF64;
}

std::string Prelude::UnalignedType(Scalar memory, int lanes) {
  const std::string element = MemoryType(memory);
  std::string name = absl::StrCat(element, lanes, "_u");
  types_.insert(absl::StrCat("typedef ", element, lanes, " ", name, " __attribute__((aligned(",
                             ByteSize(memory), ")));\n"));
  return name;
}

void Prelude::UsesFloatMax(Scalar s, int lanes, bool max) {
  const std::string t = ValueType(s, lanes);
  functions_.insert(absl::StrCat("static inline ", t, max ? " max_" : " min_", t, "(", t, " a, ", t,
                                 " b) {  // NaN wins\n  return ((", max ? "a < b" : "b < a",
                                 ") | (b != b)) ? b : a;\n}\n"));
}

void Prelude::Merge(const Prelude& other) {
  no_contraction_ |= other.no_contraction_;
  fp16_ |= other.fp16_;
  fp64_ |= other.fp64_;
  sampler_ |= other.sampler_;
  types_.insert(other.types_.begin(), other.types_.end());
  functions_.insert(other.functions_.begin(), other.functions_.end());
}

std::string Prelude::Text() const {
  std::string out;
  if (fp16_) out += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  if (fp64_) out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (no_contraction_) out += "#pragma OPENCL FP_CONTRACT OFF\n";
  if (sampler_) {
    out +=
        "__constant sampler_t nearest =\n"
        "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n";
  }
  for (const std::string& t : types_) out += t;
  for (const std::string& f : functions_) out += f;
  if (!out.empty()) out += "\n";
  return out;
}

}  // namespace tg::opencl
