// tg-reduce: shrinks a failing module.
//
//   tg-reduce --seed=241                       what tg-fuzz found
//   tg-reduce bad.uop                          whatever check of tg-fuzz bad.uop fails
//   tg-reduce bad.uop --command='not tg-opt %s --pass=default'
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ir/text/printer.h"
#include "passes/instrument/write_file.h"
#include "passes/simplify/simplify.h"
#include "tools/driver/flags.h"
#include "tools/fuzz/check_program.h"
#include "tools/fuzz/program_file.h"
#include "tools/fuzz/reduce_program.h"
#include "tools/fuzz/rule_templates.h"
#include "tools/fuzz/worker.h"

namespace tg {
namespace {

using testing::RandomProgram;

int Fail(const std::string& message) {
  std::fprintf(stderr, "tg-reduce: %s\n", message.c_str());
  return 2;
}

// The first failure of the checks in a new process; an empty pass if none fails.
fuzz::SeedFailure CheckApart(const RandomProgram& program, fuzz::CheckOptions options) {
  fuzz::WorkOptions work;
  work.first = options.seed;
  work.seconds_per_seed = 5;
  const fuzz::WorkResult result = fuzz::RunIsolated(work, [&](uint64_t, fuzz::Worker& worker) {
    options.progress = [&](std::string_view step) { worker.Step(step); };
    const fuzz::Outcome outcome = fuzz::Check(program, options, nullptr);
    if (outcome.failure) worker.Fail(outcome.failure->pass, outcome.failure->message);
  });
  return result.failures.empty() ? fuzz::SeedFailure{} : result.failures[0];
}

volatile std::sig_atomic_t interrupted = 0;  // the signal's number

void Interrupt(int signal) { interrupted = signal; }

// Tells how far the reduction is: often on a terminal, else every ten seconds.
class ReduceProgress {
 public:
  ~ReduceProgress() { Clear(); }

  void Show(const fuzz::ReduceResult& best, size_t nodes) {
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < (is_terminal ? std::chrono::milliseconds(100) : std::chrono::seconds(10))) {
      return;
    }
    last_ = now;
    shown_ = is_terminal;
    std::fprintf(stderr, "%stg-reduce: %d candidates, %d steps, %zu nodes are left%s",
                 is_terminal ? "\r" : "", best.tried, best.kept, nodes,
                 is_terminal ? "\x1b[K" : "\n");
  }
  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

// The result as a module's text; `notes` are comments before it.
std::string ResultText(const fuzz::ReduceResult& result, const std::string& notes) {
  std::string text = "// " + std::to_string(result.tried) + " candidates, " +
                     std::to_string(result.kept) + " steps\n" + notes;
  for (const auto& [name, value] : result.program.vars) {
    text += "// --var " + name + "=" + std::to_string(value) + "\n";
  }
  return text + PrintModule(*result.program.module);
}

// Runs the command with the module's file in place of each %s; returns whether it succeeds.
bool RunCommand(const std::string& command, const RandomProgram& program) {
  std::string path = "/tmp/tg-reduce-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) return false;
  close(fd);
  bool ok = WriteFile(path, PrintModule(*program.module)).ok();
  std::string line = command;
  for (size_t at; (at = line.find("%s")) != std::string::npos;) line.replace(at, 2, path);
  const int status = ok ? std::system((line + " >/dev/null 2>&1").c_str()) : -1;
  ok = ok && status == 0;
  // While the command runs, an interrupt reaches the command only.
  for (const int signal : {SIGINT, SIGTERM}) {
    const bool ended = status != -1 && ((WIFSIGNALED(status) && WTERMSIG(status) == signal) ||
                                        (WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal));
    if (ended) Interrupt(signal);
  }
  unlink(path.c_str());
  return ok;
}

int Main(std::vector<std::string> arguments) {
  std::optional<int64_t> seed, tries, nodes;
  std::string command, output;
  std::vector<std::string> vars;
  fuzz::CheckOptions check;
  testing::RandomGraphOptions generate;
  bool help = false;
  Flags flags(
      "tg-reduce", "[options] [input.uop]",
      "Makes a module small that a pass breaks. Without a command, `breaks` is a failure of "
      "the same kind in tg-fuzz's check.");
  flags.Int("seed", "S", &seed,
            "what to shrink: tg-fuzz's graph; of a file: its inputs and choices");
  flags.Int("nodes", "N", &nodes, "as given to tg-fuzz");
  flags.Bool("writes", &generate.writes, "as given to tg-fuzz");
  flags.Bool("contractions", &generate.contractions, "as given to tg-fuzz");
  flags.Repeated("var", "NAME=N", &vars, "a variable's value, for a file");
  flags.String("target", "NAME", &check.target, "a target's preset");
  flags.String("command", "CMD", &command,
               "succeeds (status 0) where the module, its file put for %s, is still interesting");
  flags.Int("tries", "N", &tries, "candidates at most (5000)");
  flags.Bool("random-directives", &check.random_directives, "as for tg-fuzz (on)");
  flags.Bool("shuffle", &check.shuffle, "as for tg-fuzz (on)");
  flags.Bool("simplify", &check.simplify, "as for tg-fuzz (on)");
  flags.String("o", "FILE", &output, "where the result goes (standard output)");
  flags.Bool("help", &help, "print this");
  const auto files = flags.Parse(arguments);
  if (!files.ok()) return Fail(std::string(files.status().message()));
  if (help) {
    std::fputs(flags.Help().c_str(), stdout);
    return 0;
  }
  check.seed = static_cast<uint64_t>(seed.value_or(0));
  RandomProgram program;
  if (files->empty() && seed) {
    const auto rules = fuzz::RuleTemplates(SimplifyRules());
    generate.templates = rules;
    if (nodes) {
      generate.max_nodes = static_cast<int>(*nodes);
      generate.min_nodes = std::min(generate.min_nodes, generate.max_nodes);
    }
    program = testing::MakeRandomProgram(check.seed, generate);
  } else if (files->size() == 1) {
    auto read = fuzz::ReadProgram(files->front(), vars, check.seed);
    if (!read.ok()) return Fail(std::string(read.status().message()));
    program = *std::move(read);
  } else {
    return Fail("takes a file, or --seed");
  }

  fuzz::Interesting interesting;
  if (!command.empty()) {
    fuzz::InlineInputs(program);
    interesting = [&](const RandomProgram& p) { return RunCommand(command, p); };
    if (!interesting(program)) return Fail("the command does not succeed for the module as it is");
  } else {
    const fuzz::SeedFailure first = CheckApart(program, check);
    if (first.pass.empty()) return Fail("the check finds nothing wrong");
    const std::string kind = fuzz::FailureKind(first);
    interesting = [&check, kind](const RandomProgram& p) {
      return fuzz::FailureKind(CheckApart(p, check)) == kind;
    };
    // Turns off each option that the failure does not need.
    for (bool* option : {&check.simplify, &check.random_directives, &check.shuffle}) {
      const bool was = std::exchange(*option, false);
      if (!interesting(program)) *option = was;
    }
    fuzz::InlineInputs(program);
  }
  std::signal(SIGINT, Interrupt);
  std::signal(SIGTERM, Interrupt);
  ReduceProgress progress;
  absl::Status written;
  fuzz::ReduceOptions options;
  options.max_tries = static_cast<int>(tries.value_or(5000));
  options.stop = [&] { return interrupted != 0 || !written.ok(); };
  options.progress = [&](const fuzz::ReduceResult& best, size_t nodes, bool kept) {
    progress.Show(best, nodes);
    // What there is stays, however the reduction ends.
    if (kept && !output.empty()) written = WriteFile(output, ResultText(best, "// not finished\n"));
  };
  const fuzz::ReduceResult result = fuzz::Reduce(program, interesting, options);
  progress.Clear();
  if (!written.ok()) return Fail(std::string(written.message()));
  const int signal = interrupted;
  std::string notes = signal != 0 ? "// interrupted: not finished\n" : "";
  if (command.empty() && signal == 0) {
    const fuzz::SeedFailure last = CheckApart(result.program, check);
    notes += "// " + last.pass + ": " + last.message.substr(0, last.message.find('\n')) + "\n";
  }
  if (command.empty()) {
    notes += "// tg-fuzz's check with seed " + std::to_string(check.seed) +
             (check.simplify ? ", simplify" : "") +
             (check.random_directives ? ", random directives" : "") +
             (check.shuffle ? ", shuffle" : "") + "\n";
  }
  const std::string text = ResultText(result, notes);
  if (output.empty()) {
    std::fputs(text.c_str(), stdout);
  } else if (absl::Status s = WriteFile(output, text); !s.ok()) {
    return Fail(std::string(s.message()));
  }
  return signal != 0 ? 128 + signal : 0;
}

}  // namespace
}  // namespace tg

int main(int argc, char** argv) { return tg::Main({argv + 1, argv + argc}); }
