// V109, V401, V508: declarations, outside of bodies.
#include <algorithm>

#include "ir/text/constant.h"
#include "ir/verify/body_check.h"
#include "ir/verify/extent.h"

namespace tg::verify {
namespace {

bool IsSymbol(std::string_view name) {
  const auto letter = [](char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
  };
  const auto other = [](char ch) {
    return (ch >= '0' && ch <= '9') || ch == '.' || ch == '$' || ch == '-';
  };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char ch) { return letter(ch) || other(ch); });
}

class DeclarationCheck {
 public:
  DeclarationCheck(const Module& module, Diagnostics& diags) : module_(module), diags_(diags) {}

  void Run() {
    if (!IsSymbol(module_.name)) {
      Fail({}, Rule::kName, "module", module_.name, "its name is no word of the text format");
    }
    llvm::StringMap<int> data, bodies;
    for (const VarDecl& v : module_.vars) {
      Name(data, "var", v.name, v.loc);
      if (v.min > v.max) {
        Fail(v.loc, Rule::kDeclaration, "var", v.name, "its bounds are the wrong way round");
      }
      vars_[v.name] = &v;
    }
    for (const Requirement& r : module_.requirements) Requires(r);
    for (const BufferDecl& b : module_.buffers) {
      Name(data, "buffer", b.name, b.loc);
      Buffer(b);
    }
    for (const auto& g : module_.graphs) Name(bodies, "graph", g->name, g->loc);
    for (const auto& k : module_.kernels) {
      Name(bodies, "kernel", k->name, k->loc);
      KernelHeader(*k);
    }
  }

 private:
  void Fail(Location loc, Rule rule, std::string_view kind, std::string_view name,
            std::string message) {
    diags_.Error(loc, Tag(rule) + std::string(kind) + " @" + std::string(name) + ": " + message);
  }

  void Name(llvm::StringMap<int>& names, std::string_view kind, const std::string& name,
            Location loc) {
    if (!IsSymbol(name)) {
      Fail(loc, Rule::kName, kind, name, "its name is no word of the text format");
    } else if (!names.try_emplace(name, 1).second) {
      Fail(loc, Rule::kName, kind, name, "another one has this name");
    }
  }

  void Buffer(const BufferDecl& b) {
    const auto fail = [&](std::string message) {
      Fail(b.loc, Rule::kDeclaration, "buffer", b.name, std::move(message));
    };
    const DType t = b.dtype;
    if (t.is_pointer() || t.is_void() || t.is_index() || t.lanes() != 1) {
      return fail("a buffer holds scalars of a size, or is an image; not " + t.ToString());
    }
    std::vector<int64_t> extents;
    bool is_static = true;
    for (const DeclDim& d : b.shape) {
      if (!d.is_symbolic()) {
        if (d.size < 0 || d.size > kMaxExtent) {
          return fail("an extent is not from 0 to " + MaxExtentText());
        }
        extents.push_back(d.size);
        continue;
      }
      is_static = false;
      if (!d.expr.empty() && !d.expr.IsComplete()) {
        return fail("an extent is no expression of variables");
      }
      std::string missing;
      d.ForEachVar([&](const std::string& var) {
        if (!vars_.count(var)) missing = var;
      });
      if (!missing.empty()) return fail("no variable '@" + missing + "' is declared");
      const std::optional<DimExpr::Range> bounds = BoundsOf(module_, d);
      // An expression may be negative for some sizes, which a run refuses.
      const bool is_possible = bounds && (d.expr.empty() ? bounds->first : bounds->second) >= 0;
      if (!is_possible || bounds->second > kMaxExtent) {
        return fail("the bounds of '" + d.Text() + "' are not those of an extent");
      }
      extents.push_back(bounds->second);
    }
    const auto count = CountElements(extents);
    // Its bytes, too, must fit in 62 bits.
    if (!count || *count > (int64_t{1} << 59)) return fail("it has too many elements");
    if (t.is_image()) {
      const bool small = t.height() <= kMaxImageSide && t.width() <= kMaxImageSide;
      const std::vector<int64_t> shape = {t.height(), t.width(), 4};
      if (!small || !is_static || extents != shape) {
        return fail("the shape of an image is [height, width, 4], with up to " +
                    std::to_string(kMaxImageSide) + " a side");
      }
    }
    const bool has_values = b.values || !b.file.empty() || !b.tensor.empty();
    if (has_values && b.role != Role::kParam && b.role != Role::kState) {
      return fail("only a param or a state has values; this is " + std::string(RoleName(b.role)));
    }
    if (b.role == Role::kParam && !is_static) return fail("a param has a shape of numbers");
    if (has_values && !is_static) return fail("what has values has a shape of numbers");
    if (b.run_bytes != 0 || b.stride_bytes != 0) {
      const int64_t element = t.is_image() ? 0 : ByteSize(t.scalar());
      if (element == 0 || b.run_bytes < 1 || b.stride_bytes < b.run_bytes ||
          b.run_bytes % element != 0 || *count * element % b.run_bytes != 0) {
        return fail("its elements are not in runs of " + std::to_string(b.run_bytes) +
                    " bytes at a distance of " + std::to_string(b.stride_bytes));
      }
    }
    if (!b.values) return;
    if (!b.file.empty()) return fail("its values are in a file and in the text");
    if (static_cast<int64_t>(b.values->size()) != *count) {
      return fail(std::to_string(b.values->size()) + " values for " + std::to_string(*count) +
                  " elements");
    }
    for (int64_t bits : *b.values) {
      if (!IsCanonical(t.scalar(), bits)) {
        return fail(std::to_string(bits) + " is not the bits of a " + t.ToString());
      }
    }
  }

  void Requires(const Requirement& r) {
    const auto fail = [&](std::string message) {
      diags_.Error(r.loc, Tag(Rule::kDeclaration) + "require: " + std::move(message));
    };
    for (const DimExpr* e : {&r.left, &r.right}) {
      if (!e->IsComplete()) return fail("a side is no expression of variables");
      for (const DimTerm& t : e->terms()) {
        if (t.op == Op::kVar && !vars_.count(t.var)) {
          return fail("no variable '@" + t.var + "' is declared");
        }
      }
    }
  }

  void KernelHeader(const Kernel& k) {
    if (k.stage == Stage::kTensor) {
      Fail(k.loc, Rule::kAxes, "kernel", k.name, "its stage is tensor, which is that of graphs");
    }
    llvm::StringMap<int> names;
    for (const Axis& a : k.axes) {
      if (!names.try_emplace(a.name, 1).second) {
        Fail(k.loc, Rule::kAxes, "kernel", k.name, "two axes are called " + a.name);
      }
      if (a.size < 1) {
        Fail(k.loc, Rule::kAxes, "kernel", k.name, "axis " + a.name + " has no size");
      }
    }
  }

  const Module& module_;
  Diagnostics& diags_;
  llvm::StringMap<const VarDecl*> vars_;
};

}  // namespace

void CheckDeclarations(const Module& module, Diagnostics& diags) {
  DeclarationCheck(module, diags).Run();
}

}  // namespace tg::verify
