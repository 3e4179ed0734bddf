#include "ir/interpret/sample_forms.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/scalar.h"
#include "ir/shape.h"

namespace tg {
namespace {

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }
absl::Status Unsupported(std::string message) {
  return absl::UnimplementedError(std::move(message));
}

}  // namespace

absl::Status KernelForms::FormOfArgument(const UOp* u, NodeForm& f) {
  f.is_pointer = true;
  f.slot = static_cast<size_t>(u->word());
  if (f.slot >= args_.size()) return Bad(absl::StrCat("there is no argument ", f.slot));
  if (u->dtype.is_image()) return Unsupported("an image");
  const SampleArg& arg = args_[f.slot];
  if (arg.scalar != u->dtype.scalar()) return Bad("the argument is of another type");
  const int64_t given = arg.size;
  int64_t size = u->dtype.size() == DType::kUnknownSize ? given : u->dtype.size();
  if (arg.is_symbolic) size = std::min(size, given);
  if (size > given) {
    return Bad(absl::StrCat("argument ", f.slot, " has ", given, " elements, needs ", size));
  }
  f.shape = {size};
  return absl::OkStatus();
}

absl::Status KernelForms::FormOfMovement(const UOp* u, NodeForm& f) {
  const NodeForm& from = Src(u, 0);
  std::vector<int64_t> symbols;
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) {
    const Tensor& t = Src(u, i).known;
    if (!t.ok()) return Unsupported("an extent that memory determines");
    symbols.push_back((*t.data)[0]);
  }
  absl::StatusOr<IndexMap> map = IndexMapOf(u, from.shape, symbols);
  if (!map.ok()) return map.status();
  f.map = *std::move(map);
  f.shape = f.map.shape;
  f.is_pointer = from.is_pointer;
  f.slot = from.slot;
  return absl::OkStatus();
}

absl::Status KernelForms::FormOfElementwise(const UOp* u, NodeForm& f) {
  bool is_known = true;
  std::vector<Tensor> known;
  for (size_t i = 0; i < u->num_srcs; ++i) {
    const NodeForm& src = Src(u, i);
    if (src.is_pointer) return Bad(absl::StrCat("source ", i, " has no value"));
    if (f.shape.empty()) f.shape = src.shape;
    if (!src.shape.empty() && src.shape != f.shape) {
      return Bad(absl::StrCat("sources have different shapes ", ShapeText(f.shape), " and ",
                              ShapeText(src.shape)));
    }
    is_known = is_known && src.known.ok();
    known.push_back(src.known);
  }
  if (!is_known) return absl::OkStatus();
  absl::StatusOr<Tensor> value = Elementwise(u, known, options_);
  if (!value.ok()) return value.status();
  f.known = *std::move(value);
  return absl::OkStatus();
}

absl::Status KernelForms::Form(const UOp* u, NodeForm& f) {
  if (IsMovement(u->op)) return FormOfMovement(u, f);
  if (IsElementwise(u->op)) return FormOfElementwise(u, f);
  switch (u->op) {
    case Op::kConst:
      f.known = ScalarTensor(u->dtype.scalar(), u->word());
      return absl::OkStatus();
    case Op::kVar: {
      const auto name = kernel_.body.context->String(static_cast<StringId>(u->word()));
      const auto value = vars_.find(name);
      if (value == vars_.end()) return Bad("the variable has no value");
      f.known = ScalarTensor(u->dtype.scalar(), value->second);
      return absl::OkStatus();
    }
    case Op::kIota:
      f.shape = {u->word()};
      return absl::OkStatus();
    case Op::kReduceAxis:
      if (Src(u, 0).is_pointer) return Bad("source 0 has no value");
      f.shape = Src(u, 0).shape;
      for (const int64_t axis : u->list(1)) {
        if (axis < 0 || axis >= static_cast<int64_t>(f.shape.size())) return Bad("no such axis");
        f.shape[static_cast<size_t>(axis)] = 1;
      }
      return absl::OkStatus();
    case Op::kDefineGlobal:
      return FormOfArgument(u, f);
    case Op::kLoad:
      if (!Src(u, 0).is_pointer) return Bad("source 0 is not memory");
      if (!CanConvertAccess(args_[Src(u, 0).slot].scalar, u->dtype.scalar())) {
        return Bad("cannot load this type from that memory");
      }
      f.shape = Src(u, 0).shape;
      return absl::OkStatus();
    case Op::kStore: {
      const NodeForm &p = Src(u, 0), &value = Src(u, 1);
      if (!p.is_pointer || value.is_pointer) return Bad("a value is stored to memory");
      if (value.shape != p.shape && !value.shape.empty()) {
        return Bad(absl::StrCat("the memory has shape ", ShapeText(p.shape), ", the value ",
                                ShapeText(value.shape)));
      }
      return absl::OkStatus();
    }
    case Op::kNoop:
      if (u->num_srcs > 0) f = Src(u, 0);
      return absl::OkStatus();
    case Op::kSink:
      return absl::OkStatus();
    default:
      // `after` and scratch: what is read depends on what was stored.
      return Unsupported("reads what the kernel has stored");
  }
}

absl::Status KernelForms::Find() {
  if (kernel_.stage != Stage::kKernel || kernel_.body.root == nullptr) {
    return Unsupported(absl::StrCat("kernel @", kernel_.name, " is past stage kernel"));
  }
  order_ = PostOrder(kernel_.body.root);
  for (const UOp* u : order_) {
    NodeForm form;
    const absl::Status s = Form(u, form);
    forms_[u] = std::move(form);
    if (!s.ok()) {
      return absl::Status(s.code(), NodeLabel(kernel_.body, "kernel @" + kernel_.name, u) +
                                        std::string(s.message()));
    }
    if (u->op == Op::kStore) stores_.push_back(u);
  }
  return absl::OkStatus();
}

int64_t KernelForms::Evaluations() const {
  double sum = 0;
  for (const UOp* u : order_) {
    if (Of(u).is_pointer || !u->dtype.is_value()) continue;
    sum += static_cast<double>(NumElements(Of(u).shape));
    if (u->op == Op::kReduceAxis) {
      sum += static_cast<double>(NumElements(Src(u, 0).shape));
    }
  }
  return static_cast<int64_t>(std::min(sum, 0x1p62));
}

}  // namespace tg
