#include "tools/driver/pass_flags.h"

#include <utility>

#include "base/suggest.h"
#include "ir/text/diagnostic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/print_passes.h"
#include "passes/instrument/reproducer.h"
#include "passes/pass_manager.h"
#include "passes/target_fields.h"
#include "tools/driver/check_passes.h"

namespace tg::driver {
namespace {
constexpr int64_t kMaxJobs = 1024;
}  // namespace

void PassFlags::AddTo(Flags& flags) {
  flags.Group("What passes see");
  flags.String("target", "NAME", &target,
               "compile for this preset, or the device that FILE.target describes, whatever the "
               "module says");
  flags.Int("jobs", "N", &jobs,
            "compile kernels on N threads; by default one for each core. The result is the same");
  flags.Group("What a run of passes prints, on standard error");
  flags.List("print-before", "PASS,...", &print_before, "the module before each of these passes");
  flags.List("print-after", "PASS,...", &print_after, "the module after each of these passes");
  flags.Bool("print-before-all", &print_before_all, "the module before every pass");
  flags.Bool("print-after-all", &print_after_all, "the module after every pass");
  flags.Bool("print-changed", &print_changed, "a unified diff of what each pass changed");
  flags.Choice("color", {"auto", "always", "never"}, &color,
               "colours in diffs; auto: where the output is a terminal");
  flags.Bool("time-passes", &time_passes,
             "how long reading, each pass, verifying and writing took");
  flags.Bool("stats", &stats, "what the passes counted");
  flags.Group("Finding out what is wrong");
  flags.Bool("verify-each", &verify_each, "verify the module after each pass (on by default)");
  flags.Bool("check", &check,
             "interpret the module before and after each pass on random data, and compare");
  flags.Int("check-seed", "N", &check_seed, "other random data for --check");
  flags.Int("opt-bisect-limit", "N", &bisect_limit,
            "run only the first N passes of the pipeline, and say which run; -1 runs all");
  flags.String("dump-dir", "DIR", &dump_dir,
               "write 00-input.uop, and NN-PASS.uop after each pass, into this folder");
  flags.String("crash-reproducer", "FILE", &crash_reproducer,
               "where to write the module and command that fail, when a pass fails or crashes; by "
               "default a new file in the folder for temporary files; 'none': do not");
}

absl::Status PassFlags::Check(const passes::PassRegistry& registry) {
  for (auto* names : {&print_before, &print_after}) {
    const char* flag = names == &print_before ? "--print-before: " : "--print-after: ";
    for (std::string& name : *names) {
      const absl::StatusOr<const passes::Pass*> pass = registry.Get(name);
      if (!pass.ok()) {
        return absl::InvalidArgumentError(flag + std::string(pass.status().message()));
      }
      name = (*pass)->name;
    }
  }
  if (jobs && (*jobs < 1 || *jobs > kMaxJobs)) {
    return absl::InvalidArgumentError("--jobs: a number of threads from 1 to " +
                                      std::to_string(kMaxJobs));
  }
  if (!target.empty()) {
    std::vector<std::string_view> names;
    for (const passes::Target& preset : passes::TargetPresets()) names.push_back(preset.name);
    const bool is_file = target.ends_with(passes::kTargetFileEnding);
    const std::string suggestion = is_file ? "" : DidYouMean(target, names);
    const absl::StatusOr<passes::Target> found = passes::FindTarget(target);
    if (!found.ok()) {
      return absl::InvalidArgumentError(
          "--target: " + (suggestion.empty() ? std::string(found.status().message())
                                             : "unknown target '" + target + "'" + suggestion));
    }
  }
  return absl::OkStatus();
}

absl::Status PassFlags::Run(passes::Pipeline pipeline, const std::string& tool,
                            std::string_view input, Module& module,
                            std::vector<instrument::TimeRow>& times) const {
  if (!target.empty()) module.target = target;

  passes::PassManagerOptions options;
  options.verify_each = verify_each;
  options.jobs = static_cast<int>(jobs.value_or(0));
  if (bisect_limit && *bisect_limit >= 0) options.bisect_limit = bisect_limit;
  options.log = &llvm::errs();
  passes::PassManager manager(std::move(pipeline), options);

  instrument::PrintPassesOptions print;
  print.before = {print_before_all, {print_before.begin(), print_before.end()}};
  print.after = {print_after_all, {print_after.begin(), print_after.end()}};
  print.changed = print_changed;
  print.color =
      color == "always" || (color == "auto" && llvm::sys::Process::StandardErrHasColors());
  if (!print.before.empty() || !print.after.empty() || print.changed) {
    manager.AddObserver(instrument::PrintPasses(std::move(print), llvm::errs()));
  }
  if (!dump_dir.empty()) manager.AddObserver(instrument::DumpPasses(dump_dir));
  if (crash_reproducer != "none") {
    instrument::ReproducerOptions reproducer;
    reproducer.path = crash_reproducer;
    reproducer.command = tool + (target.empty() ? "" : " --target=" + target);
    if (check) reproducer.command += " --check";
    if (check_seed) reproducer.command += " --check-seed=" + std::to_string(*check_seed);
    reproducer.input = input;
    reproducer.on_signal = true;
    manager.AddObserver(instrument::WriteReproducer(std::move(reproducer)));
  }

  if (check) manager.AddObserver(CheckPasses(static_cast<uint64_t>(check_seed.value_or(0))));

  const absl::Status status = manager.Run(module);
  const std::vector<instrument::TimeRow> rows = instrument::TimeRows(manager.report());
  times.insert(times.end(), rows.begin(), rows.end());
  if (stats) llvm::errs() << instrument::StatisticsTable(manager.report());
  return status;
}

}  // namespace tg::driver
