#include "tools/fuzz/check_program.h"

#include <algorithm>

#include "codegen/opencl/renderer.h"
#include "ir/interpret/compare_values.h"
#include "ir/interpret/run.h"
#include "ir/masked_access.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/devectorize/devectorize.h"
#include "passes/expand/expand.h"
#include "passes/kernelize/kernelize.h"
#include "passes/linearize/linearize.h"
#include "passes/lower/lower.h"
#include "passes/pipeline_text.h"
#include "passes/schedule/schedule.h"
#include "passes/simplify/simplify.h"
#include "tools/fuzz/random_directives.h"

namespace tg::fuzz {
namespace {

// Whether an address has a gate for each element, which only renderers of machine code take.
bool HasMaskedAccess(const Module& module) {
  return llvm::any_of(module.kernels, [](const auto& kernel) {
    return llvm::any_of(PostOrder(kernel->body.root), [](const UOp* u) {
      return (u->op == Op::kLoad || u->op == Op::kStore) && MaskOf(u->src(0));
    });
  });
}

using testing::RandomProgram;
using testing::Rng;

std::string Text(absl::string_view s) { return std::string(s.data(), s.size()); }

class Checker {
 public:
  Checker(const RandomProgram& program, const CheckOptions& options, Coverage* coverage)
      : program_(program),
        options_(options),
        coverage_(coverage),
        rng_(options.seed ^ 0x7467667a7a) {}

  Outcome Run() {
    ChooseTarget();
    if (coverage_) coverage_->AddGraph(*program_.module);
    if (Prepare() && Passes()) outcome_.compiled = std::move(module_);
    if (coverage_) coverage_->AddRuleHits();
    return std::move(outcome_);
  }

 private:
  void ChooseTarget() {
    const auto presets = passes::TargetPresets();
    const int64_t other = rng_.Below(static_cast<int64_t>(presets.size()));
    const std::string name = options_.device_target     ? options_.device_target->name
                             : !options_.target.empty() ? options_.target
                             : rng_.Percent(45)         ? "cl-cpu"
                                                        : presets[static_cast<size_t>(other)].name;
    outcome_.target = options_.device_target ? *options_.device_target : *passes::FindTarget(name);
    // Graphs are small: vectors of two lanes, one core and small caches let rules about large sizes
    // apply to them.
    testing::Rng small(options_.seed ^ 0x736d616c6c);
    if (!outcome_.target.is_gpu && small.Percent(30)) {
      outcome_.target.alu_width = outcome_.target.mem_width = 8;
      outcome_.target.compute_units = 1;
      outcome_.target.near_cache_bytes = 256;
      outcome_.target.core_cache_bytes = small.Pick({512, 4096});
      if (coverage_) coverage_->Count("vectors of two");
    }
    if (coverage_) coverage_->Count("target " + outcome_.target.name);
  }

  bool Fail(std::string pass, std::string message) {
    outcome_.failure = Failure{std::move(pass), std::move(message)};
    return false;
  }

  void Begin(std::string_view step) {
    if (options_.progress) options_.progress(step);
  }

  bool Valid(const std::string& pass) {
    const absl::Status status = VerifyModule(*module_);
    return status.ok() || Fail(pass, "not valid: " + Text(status.message()));
  }

  bool PrintsBack(const std::string& pass) {
    const std::string text = PrintModule(*module_);
    Diagnostics diags;
    const auto back = ParseModule(text, "printed", diags);
    if (!back) return Fail(pass, "does not parse back: " + diags.ToString());
    return PrintModule(*back) == text || Fail(pass, "prints differently after being parsed");
  }

  bool Same(const std::string& pass) {
    Begin("interpret after " + pass);
    auto actual = interpret::InterpretFirstRun(*module_, "main", program_.inputs, program_.vars,
                                               interpret::OptionsFor(*module_));
    if (!actual.ok()) return Fail(pass, "interpreter: " + Text(actual.status().message()));
    // The results may omit a state without written elements.
    actual->insert(program_.inputs.begin(), program_.inputs.end());
    const auto difference = interpret::Difference(outcome_.expected, *actual);
    return !difference || Fail(pass, *difference);
  }

  bool Prepare() {
    module_ = Clone(*program_.module);
    module_->target = outcome_.target.name;
    Begin("verify");
    if (!Valid("verify")) return false;
    Begin("text");
    if (options_.text && !PrintsBack("text")) return false;
    Begin("interpret");
    interpret::InterpretOptions interpret = interpret::OptionsFor(*module_);
    interpret.track_error = true;
    auto expected =
        interpret::InterpretFirstRun(*module_, "main", program_.inputs, program_.vars, interpret);
    if (!expected.ok()) return Fail("interpret", Text(expected.status().message()));
    outcome_.expected = *std::move(expected);
    // A buffer without elements may stay unwritten.
    std::erase_if(outcome_.expected, [](const auto& b) { return b.second.data.empty(); });
    if (coverage_) coverage_->AddExpected(outcome_.expected);
    return true;
  }

  // Runs a pass and checks its result. Returns false if no step may follow.
  bool RunPass(const passes::Pass& pass, passes::PassOptions set = {}) {
    const std::string name(pass.name);
    Begin(name);
    passes::PassContext context{outcome_.target, passes::DefaultStep(pass).options, {}, {}};
    for (auto& [option, value] : set) context.options[option] = value;
    const absl::Status status = pass.run(*module_, context);
    if (status.code() == absl::StatusCode::kUnimplemented) {
      outcome_.skipped = name + ": " + Text(status.message());
      if (coverage_) coverage_->Count("not for this target: " + name);
      return false;
    }
    if (!status.ok()) return Fail(name, Text(status.message()));
    for (const auto& [what, count] : context.statistics) {
      if (coverage_ && count > 0) coverage_->Count("graphs with " + what);
    }
    return AfterStep(name);
  }

  bool AfterStep(const std::string& name) {
    if (options_.observe) options_.observe(name, *module_);
    Begin("verify after " + name);
    if (!Valid(name)) return false;
    if (coverage_) coverage_->Count("pass " + name);
    if (options_.text && rng_.Percent(10) && !PrintsBack("text after " + name)) return false;
    const auto& only = options_.passes;
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) return true;
    return Same(name);
  }

  // Runs simplify in some cases. Sets `*ran`, if not null, to whether it ran.
  bool SimplifyNow(const char* where, bool* ran = nullptr) {
    if (!options_.simplify || !rng_.Percent(25)) return true;
    if (ran) *ran = true;
    const std::string name = std::string("simplify after ") + where;
    Begin(name);
    const absl::Status status = simplify::Simplify(*module_);
    if (!status.ok()) return Fail(name, Text(status.message()));
    return AfterStep(name);
  }

  void ChooseOpts() {
    if (!options_.random_directives || !rng_.Percent(50)) return;
    for (const auto& k : module_->kernels) {
      if (rng_.Percent(30)) StageAtRandom(*module_, *k, outcome_.target, rng_);
      if (rng_.Percent(85)) ChooseRandomDirectives(*module_, *k, outcome_.target, rng_);
      if (coverage_ && !k->directives.empty()) coverage_->Count("kernels with random directives");
    }
  }

  bool Passes() {
    if (!SimplifyNow("nothing") || !RunPass(kernelize::kKernelizePass) ||
        !SimplifyNow("kernelize")) {
      return false;
    }
    ChooseOpts();
    if (!RunPass(schedule::kSchedulePass)) return false;
    if (coverage_) coverage_->AddKernels(*module_);
    // In some cases the kernel is looked at between lower's rewrites too, which go on from there.
    if (testing::Rng(options_.seed ^ 0x756e74696c).Percent(20)) {
      for (const char* until : {"indices", "reduces"}) {
        if (!RunPass(lower::kLowerPass, {{"until", until}})) return false;
      }
    }
    if (!RunPass(lower::kLowerPass) || !SimplifyNow("lower")) return false;
    if (!RunPass(expand::kExpandPass) || !SimplifyNow("expand")) return false;
    passes::PassOptions widths;
    if (rng_.Percent(25)) {
      widths["alu-width"] = std::to_string(rng_.Pick({0, 8, 16, 32, 64}));
      widths["mem-width"] = std::to_string(rng_.Pick({4, 8, 16, 32, 64}));
      if (!options_.random_directives) widths.clear();  // the target's are part of what tg chooses
    }
    bool simplified = false;
    if (!RunPass(devectorize::kDevectorizePass, widths) || !SimplifyNow("devectorize", &simplified))
      return false;
    // Simplify undoes legalizations of devectorize, such as divisors that are not 0, so it must run
    // again.
    if (simplified && !RunPass(devectorize::kDevectorizePass, widths)) return false;
    passes::PassOptions order;
    if (options_.shuffle && rng_.Percent(50))
      order["shuffle"] = std::to_string(rng_.Below(1 << 30));
    if (!RunPass(linearize::kLinearizePass, order)) return false;
    if (HasMaskedAccess(*module_)) return true;
    Begin("render");
    const auto rendered = opencl::RenderModule(*module_, outcome_.target);
    if (!rendered.ok()) return Fail("render", Text(rendered.status().message()));
    outcome_.source = rendered->source;
    return true;
  }

  const RandomProgram& program_;
  const CheckOptions& options_;
  Coverage* coverage_;
  Rng rng_;
  Outcome outcome_;
  std::unique_ptr<Module> module_;
};

}  // namespace

Outcome Check(const RandomProgram& program, const CheckOptions& options, Coverage* coverage) {
  return Checker(program, options, coverage).Run();
}

}  // namespace tg::fuzz
