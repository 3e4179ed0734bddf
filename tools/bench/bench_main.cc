#include "tools/bench/bench_main.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/text/printer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/temporary_file.h"
#include "passes/instrument/write_file.h"
#include "tools/bench/bench_run.h"
#include "tools/driver/flags.h"
#include "tools/driver/listing.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"

namespace tg::bench {
namespace {

constexpr char kTool[] = "tg-bench";
// OpenBLAS and ONNX Runtime let their threads spin after a call.
constexpr double kPauseAfterPeers = 0.03;

struct BenchFlags {
  bench::BenchOptions run;
  std::string filter, json, min_time, modules;
  std::optional<int64_t> batch;
  bool list = false, small = false, version = false, help = false;

  void AddTo(driver::Flags& flags);
  absl::Status Interpret();
  absl::StatusOr<std::vector<bench::Row>> Rows() const;
};

void BenchFlags::AddTo(driver::Flags& flags) {
  flags.Group("What is run");
  flags.String("device", "NAME", &run.device,
               "the device, as for tg-run; 'reference' with --check-only");
  flags.String("target", "NAME", &run.target,
               "the target that kernels are compiled for (default: the device's)");
  flags.String("filter", "REGEX", &filter, "only rows whose name matches it somewhere");
  flags.Bool("small", &small, "the same operations with small, uneven sizes");
  flags.Bool("check-only", &run.check_only, "check the values, time nothing");
  flags.Group("How it is measured");
  flags.String("min-time", "SECONDS", &min_time,
               "turns of a row until tg has run for this time, but at least ten (default 0.5)");
  flags.Int("batch", "N", &batch, "runs that are enqueued together, at most (default 50)");
  flags.String("peers", "FILE.py", &run.peer_script,
               "tools/bench/peers.py: other programs compute the same rows, by turns with tg");
  flags.String("python", "PROGRAM", &run.python,
               "the Python that runs it and has the peers installed (default python3)");
  flags.Group("What is written");
  flags.String("json", "FILE", &json, "the results, for tools/benchmarks_page.py");
  flags.String("write-modules", "FOLDER", &modules,
               "write the rows' graphs as NAME.uop, for tg-opt and tg-run, and run nothing");
  flags.Bool("list", &list, "print the names of the rows");
  flags.Bool("version", &version, "print the version");
  flags.Bool("help", &help, "print this text");
}

absl::Status BenchFlags::Interpret() {
  if (run.python.empty()) run.python = "python3";
  if (!run.peer_script.empty()) run.timing.pause_seconds = kPauseAfterPeers;
  if (batch && *batch < 1) return InvalidArgument("--batch: ", *batch, " is not at least 1");
  run.timing.max_batch = batch.value_or(run.timing.max_batch);
  if (min_time.empty()) return absl::OkStatus();
  double& seconds = run.timing.min_seconds;
  const auto [end, error] =
      std::from_chars(min_time.data(), min_time.data() + min_time.size(), seconds);
  if (error != std::errc() || end != min_time.data() + min_time.size() || !(seconds >= 0)) {
    return InvalidArgument("--min-time: '", min_time, "' is not a number that is at least 0");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bench::Row>> BenchFlags::Rows() const {
  llvm::Regex regex(filter);
  std::string why;
  if (!filter.empty() && !regex.isValid(why)) return InvalidArgument("--filter: ", why);
  std::vector<bench::Row> rows = small ? bench::SmallRows() : bench::MeasuredRows();
  std::erase_if(rows,
                [&](const bench::Row& row) { return !filter.empty() && !regex.match(row.name); });
  if (rows.empty()) return InvalidArgument("--filter: no row matches '", filter, "'");
  return rows;
}

absl::Status WriteModules(const std::vector<bench::Row>& rows, const std::string& folder) {
  TG_RETURN_IF_ERROR(instrument::MakeFolder(folder));
  for (const bench::Row& row : rows) {
    TG_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, bench::BuildModule(row));
    TG_RETURN_IF_ERROR(
        instrument::WriteFile(Cat(folder, "/", row.name, ".uop"), PrintModule(*module)));
  }
  return absl::OkStatus();
}

absl::Status RunRows(const BenchFlags& flags, const std::vector<bench::Row>& rows) {
  bench::BenchRun run(flags.run, [](const std::string& text) { llvm::errs() << text; });
  const absl::Status status = run.Run(rows);
  if (!flags.run.check_only && !run.report().rows.empty()) {
    TG_RETURN_IF_ERROR(
        instrument::WriteStdout(bench::HeadText(run.report()) + bench::TableText(run.report())));
  }
  if (!flags.json.empty()) {
    TG_RETURN_IF_ERROR(instrument::WriteFile(flags.json, bench::JsonText(run.report())));
  }
  return status;
}

}  // namespace

int BenchMain(int argc, const char* const* argv) {
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  instrument::TemporaryFile::RemoveOnSignals();
  BenchFlags values;
  driver::Flags flags(
      kTool, "[options]",
      "Runs one operation after the other on a device: each result is checked against the "
      "formula that defines it, and then timed and compared with the device's limits, "
      "which kernels that only copy, read or multiply and add have shown before.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> rest =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!rest.ok()) return driver::Fail(kTool, driver::kUsage, rest.status());
  if (!rest->empty()) {
    return driver::Fail(
        kTool, driver::kUsage,
        InvalidArgument("no argument is expected, but there is '", (*rest)[0], "'"));
  }
  if (const absl::Status status = values.Interpret(); !status.ok())
    return driver::Fail(kTool, driver::kUsage, status);
  const absl::StatusOr<std::vector<bench::Row>> rows = values.Rows();
  if (!rows.ok()) return driver::Fail(kTool, driver::kUsage, rows.status());
  std::string text;
  if (values.help) text += flags.Help();
  if (values.version) text += driver::VersionText(kTool);
  if (values.list) {
    for (const bench::Row& row : *rows) text += Cat(row.name, "  ", row.title, "\n");
  }
  absl::Status status;
  if (!text.empty()) {
    status = instrument::WriteStdout(text);
  } else if (!values.modules.empty()) {
    status = WriteModules(*rows, values.modules);
  } else {
    status = RunRows(values, *rows);
  }
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::bench
