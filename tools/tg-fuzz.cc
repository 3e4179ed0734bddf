// tg-fuzz: compiles random graphs and compares the results with the interpreter's.
//
//   tg-fuzz --seed=1 --count=100000 --table
//   tg-fuzz --trace --seed=241            one of them, in steps
//   tg-fuzz --var n=3 graph.uop           a module's graph, in steps
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "ir/interpret/compare_values.h"
#include "ir/testing/random_graph.h"
#include "ir/text/printer.h"
#include "passes/simplify/simplify.h"
#include "tools/driver/flags.h"
#include "tools/fuzz/check_program.h"
#include "tools/fuzz/device_run.h"
#include "tools/fuzz/program_file.h"
#include "tools/fuzz/rule_templates.h"
#include "tools/fuzz/worker.h"

namespace tg::tools {
namespace {

void PrintFailures(const std::vector<fuzz::SeedFailure>& failures) {
  std::map<std::string, std::pair<int, const fuzz::SeedFailure*>> groups;
  for (const auto& f : failures) {
    auto& [count, first] = groups[fuzz::FailureKind(f)];
    if (count++ == 0) first = &f;
  }
  for (const auto& [signature, group] : groups) {
    const auto& [count, f] = group;
    std::printf("FAILED %d times, first with --seed=%llu: %s: %s\n", count,
                static_cast<unsigned long long>(f->seed), f->pass.c_str(), f->message.c_str());
  }
}

int Main(std::vector<std::string> arguments) {
  std::optional<int64_t> seed, count, seconds, max_failures, nodes;
  fuzz::CheckOptions check;
  testing::RandomGraphOptions generate;
  std::vector<std::string> module_flags = {"no-contract"};
  bool narrow = false, table = false, print = false, trace = false, help = false, templates = true;
  std::vector<std::string> vars;
  std::string device;
  bool compare = true;
  driver::Flags flags(
      "tg-fuzz", "[options] [graph.uop]",
      "Runs random tensor graphs through the passes, comparing what the interpreter makes "
      "of the module before and after each.");
  flags.Int("seed", "S", &seed, "the first seed; a graph and all decisions depend on it (0)");
  flags.Int("count", "N", &count, "how many seeds (1000)");
  flags.Int("seconds", "N", &seconds, "stop after so long");
  flags.Int("max-failures", "N", &max_failures, "stop after so many failures (20)");
  flags.Int("nodes", "N", &nodes, "nodes made for a graph, at most (110)");
  flags.Bool("narrow", &narrow, "most values are integers of 8 and 16 bits that wrap (off)");
  flags.List("passes", "P,...", &check.passes, "interpret after these passes only");
  flags.String("target", "NAME", &check.target, "a target's preset; without it any");
  flags.String("device", "NAME", &device,
               "also run them there: cpu, gpu, or part of a name; targets are its own then");
  flags.Bool("compare", &compare, "whether a wrong value there is a failure (on)");
  flags.List("flags", "F,...", &module_flags, "the modules' flags (no-contract)");
  flags.Bool("random-directives", &check.random_directives,
             "any legal directives in half of the graphs, any widths in a quarter (on)");
  flags.Bool("shuffle", &check.shuffle, "any valid order of instructions in half of them (on)");
  flags.Bool("simplify", &check.simplify, "simplify between passes now and then (on)");
  flags.Bool("writes", &generate.writes, "only in-place writes through chains of views");
  flags.Bool("contractions", &generate.contractions, "only sums of products, in any layout");
  flags.Bool("templates", &templates, "graphs hold instances of simplify's rules (on)");
  flags.Repeated("var", "NAME=N", &vars, "a variable's value, for a file");
  flags.Bool("table", &table, "print what was reached");
  flags.Bool("print", &print, "print each graph");
  flags.Bool("trace", &trace, "one seed, in this process, printing the module after each step");
  flags.Bool("help", &help, "print this");
  const auto rest = flags.Parse(arguments);
  if (!rest.ok() || rest->size() > 1) {
    std::fprintf(stderr, "tg-fuzz: %s\n",
                 rest.ok() ? "takes one file" : std::string(rest.status().message()).c_str());
    return 2;
  }
  if (help) {
    std::fputs(flags.Help().c_str(), stdout);
    return 0;
  }
  const auto rules = fuzz::RuleTemplates(simplify::SimplifyRules());
  generate.flags = {};
  for (const std::string& flag : module_flags) {
    if (generate.flags.Add(flag)) continue;
    std::fprintf(stderr, "tg-fuzz: there is no module flag '%s'\n", flag.c_str());
    return 2;
  }
  if (templates) generate.templates = rules;
  generate.narrow = narrow;
  if (nodes) {
    generate.max_nodes = static_cast<int>(*nodes);
    generate.min_nodes = std::min(generate.min_nodes, generate.max_nodes);
  }
  const auto first = static_cast<uint64_t>(seed.value_or(0));
  if (!device.empty() && check.target.empty()) check.device_target = fuzz::TargetFor(device);

  if (trace || !rest->empty()) {
    testing::RandomProgram program;
    if (rest->empty()) {
      program = testing::MakeRandomProgram(first, generate);
    } else {
      auto read = fuzz::ReadProgram(rest->front(), vars, first);
      if (!read.ok()) {
        std::fprintf(stderr, "tg-fuzz: %s\n", std::string(read.status().message()).c_str());
        return 2;
      }
      program = *std::move(read);
    }
    std::printf("%s", PrintModule(*program.module).c_str());
    for (const auto& [name, value] : program.vars) {
      std::printf("// var %s = %lld\n", name.c_str(), static_cast<long long>(value));
    }
    check.seed = first;
    check.observe = [](std::string_view step, const Module& module) {
      std::printf("\n// ---- after %.*s\n%s", static_cast<int>(step.size()), step.data(),
                  PrintModule(module).c_str());
      std::fflush(stdout);
    };
    const fuzz::Outcome outcome = fuzz::Check(program, check, nullptr);
    if (!outcome.skipped.empty()) std::printf("// skipped: %s\n", outcome.skipped.c_str());
    std::printf("\n// ---- rendered\n%s", outcome.source.c_str());
    if (!outcome.failure) return 0;
    std::printf("// FAILED in %s: %s\n", outcome.failure->pass.c_str(),
                outcome.failure->message.c_str());
    return 1;
  }

  fuzz::Coverage::WatchRules();
  std::optional<absl::StatusOr<fuzz::DeviceRunner>> runner;  // opened in the process that uses it
  fuzz::WorkOptions work;
  work.first = first;
  work.count = static_cast<uint64_t>(count.value_or(1000));
  work.max_seconds = static_cast<double>(seconds.value_or(0));
  work.max_failures = static_cast<size_t>(max_failures.value_or(20));
  const fuzz::WorkResult result = fuzz::RunIsolated(work, [&](uint64_t s, fuzz::Worker& worker) {
    const testing::RandomProgram program = testing::MakeRandomProgram(s, generate);
    if (print) {
      std::printf("// --seed=%llu\n%s\n", static_cast<unsigned long long>(s),
                  PrintModule(*program.module).c_str());
      std::fflush(stdout);
    }
    check.seed = s;
    check.progress = [&](std::string_view step) { worker.Step(step); };
    fuzz::Outcome outcome = fuzz::Check(program, check, &worker.coverage());
    if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
    if (device.empty() || !outcome.compiled) return;
    worker.Step("device");
    if (!runner) runner = fuzz::DeviceRunner::Open(device);
    if (!runner->ok()) return worker.Fail("device", std::string(runner->status().message()));
    const absl::StatusOr<interpret::HostBuffers> actual =
        (*runner)->Run(std::move(outcome.compiled), outcome.target, program, outcome.expected);
    worker.coverage().Count("run on the device");
    if (!actual.ok()) {
      worker.Fail("device", std::string(actual.status().message()));
    } else if (!compare) {
      return;
    } else if (const auto difference = interpret::Difference(outcome.expected, *actual)) {
      worker.Fail("device", *difference);
    }
  });
  PrintFailures(result.failures);
  if (table) std::fputs(result.coverage.Table().c_str(), stdout);
  std::printf("tg-fuzz --seed=%llu: %llu graphs, %zu failed; %.1f s, %.0f graphs/s\n",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(result.seeds),
              result.failures.size(), result.seconds,
              static_cast<double>(result.seeds) / result.seconds);
  return result.failures.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tg::tools

int main(int argc, char** argv) { return tg::tools::Main({argv + 1, argv + argc}); }
