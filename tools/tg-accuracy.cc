// tg-accuracy: measures the errors of the mathematical functions.
//
//   tg-accuracy                                        all of them, on this machine's devices
//   tg-accuracy --function=sin --type=f32 --by=own --exhaustive
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/accuracy/measure.h"
#include "tools/driver/flags.h"

namespace tg::accuracy {
namespace {

struct Choices {
  std::vector<std::string> functions, types, by;
  std::string device = "cpu";
  std::optional<int64_t> samples, seed;
  bool exhaustive = false;
};

bool Has(const std::vector<std::string>& list, std::string_view name) {
  for (const std::string& s : list) {
    if (s == name) return true;
  }
  return list.empty();
}

// All 2^32 floats, in blocks.
absl::StatusOr<Measured> Exhaustive(const Evaluator& evaluator, const Function& function,
                                    const Implementation& by) {
  constexpr int64_t kPart = int64_t{1} << 22;
  Measured worst;
  for (int64_t from = 0; from < int64_t{1} << 32; from += kPart) {
    Arguments arguments;
    for (int64_t i = 0; i < kPart; ++i) arguments.x.push_back(from + i);
    const auto part = Measure(evaluator, function, Scalar::kF32, by, arguments);
    if (!part.ok()) return part.status();
    worst.Merge(*part);
  }
  return worst;
}

// Measures a function on all selected implementations; `stated` gives the bounds. Returns whether
// the bounds hold.
template <typename F>
bool MeasureFunction(const Evaluator& evaluator, const Function& function, Scalar scalar,
                     const Choices& choices, F&& stated) {
  using Kind = Implementation::Kind;
  if (!Has(choices.functions, function.name) || !Has(choices.types, GetScalarInfo(scalar).text)) {
    return true;
  }
  const bool exhaustive = choices.exhaustive && scalar == Scalar::kF32 && function.arity == 1 &&
                          std::isinf(function.low);
  const Arguments arguments = exhaustive
                                  ? Arguments()
                                  : Samples(function, scalar, choices.samples.value_or(1 << 20),
                                            static_cast<uint64_t>(choices.seed.value_or(1)));
  bool good = true;
  for (const Implementation& by :
       {Implementation{Kind::kInterpreter, false, true}, Implementation{Kind::kDevice, false, true},
        Implementation{Kind::kDevice, true, true}, Implementation{Kind::kOwn, false, true},
        Implementation{Kind::kOwn, false, false}, Implementation{Kind::kOwn, true, true}}) {
    constexpr const char* kKinds[] = {"interpreter", "device", "own"};
    if (!Has(choices.by, kKinds[static_cast<int>(by.kind)])) continue;
    const absl::StatusOr<Measured> m = exhaustive
                                           ? Exhaustive(evaluator, function, by)
                                           : Measure(evaluator, function, scalar, by, arguments);
    if (!m.ok()) {
      std::fprintf(stderr, "tg-accuracy: %s\n", std::string(m.status().message()).c_str());
      return false;
    }
    const bool holds = m->ulps <= stated(by.kind);
    good &= holds;
    std::printf("%s%s\n", Describe(*m, function, scalar, by).c_str(),
                holds ? "" : "  MORE THAN STATED");
    std::fflush(stdout);
  }
  return good;
}

bool MeasureAll(const Evaluator& evaluator, const Choices& choices) {
  bool good = true;
  for (const Accuracy& row : Accuracies()) {
    good &= MeasureFunction(
        evaluator, FunctionOf(row.op), row.scalar, choices,
        [&](Implementation::Kind kind) { return StatedUlps(evaluator, row, kind); });
  }
  for (const Composition& c : Compositions()) {
    for (const Scalar s : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
      good &= MeasureFunction(evaluator, c.function, s, choices, [&](Implementation::Kind kind) {
        // The table states no bounds for the built-in functions of other devices.
        const bool stated = kind != Implementation::Kind::kDevice || evaluator.is_pocl();
        return stated ? c.BoundFor(s) : HUGE_VAL;
      });
    }
  }
  return good;
}

int Main(const std::vector<std::string>& arguments) {
  Choices choices;
  bool help = false;
  driver::Flags flags(
      "tg-accuracy", "[options]",
      "Computes mathematical functions through the whole pipeline and compares them with "
      "MPFR. Types of up to 16 bits are tried completely. The exit code is 1 where an "
      "error is greater than ir/accuracy.def or tools/accuracy/compositions.def states.");
  flags.List("function", "F,...", &choices.functions,
             "exp2, log2, sin, pow, sqrt, recip, div, exp, log, cos, tan, sigmoid, tanh, rsqrt "
             "(all)");
  flags.List("type", "T,...", &choices.types, "fp8e4m3, fp8e5m2, f16, bf16, f32, f64 (all)");
  flags.List("by", "WHO,...", &choices.by,
             "interpreter; device: its own functions; own: written out in arithmetic (all)");
  flags.String("device", "NAME", &choices.device, "as for tg-run (cpu)");
  flags.Int("samples", "N", &choices.samples, "of f32 and f64, and for two arguments (2^20)");
  flags.Int("seed", "S", &choices.seed, "of the samples (1)");
  flags.Bool("exhaustive", &choices.exhaustive, "all 2^32 arguments of f32 instead");
  flags.Bool("help", &help, "print this");
  const auto rest = flags.Parse(arguments);
  if (!rest.ok() || !rest->empty()) {
    std::fprintf(stderr, "tg-accuracy: %s\n",
                 rest.ok() ? "takes no file" : std::string(rest.status().message()).c_str());
    return 2;
  }
  if (help) {
    std::fputs(flags.Help().c_str(), stdout);
    return 0;
  }
  const auto evaluator = Evaluator::Open(choices.device);
  if (!evaluator.ok()) {
    std::fprintf(stderr, "tg-accuracy: %s\n", std::string(evaluator.status().message()).c_str());
    return 1;
  }
  std::printf("device: %s\n", (*evaluator)->device_name().c_str());
  return MeasureAll(**evaluator, choices) ? 0 : 1;
}

}  // namespace
}  // namespace tg::accuracy

int main(int argc, char** argv) { return tg::accuracy::Main({argv + 1, argv + argc}); }
