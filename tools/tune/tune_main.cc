#include "tools/tune/tune_main.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/write_file.h"
#include "ir/text/parser.h"
#include "passes/instrument/temporary_file.h"
#include "passes/pipeline.h"
#include "passes/pipeline_text.h"
#include "passes/schedule/schedule_file.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/opencl/opencl_layers.h"
#include "runtime/search/record_lines.h"
#include "runtime/search/sqlite_record.h"
#include "runtime/search/worker.h"
#include "runtime/session/half_pipeline.h"
#include "tools/driver/device_listing.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"
#include "tools/tune/tune_flags.h"
#include "tools/tune/tune_model.h"
#include "tools/tune/tune_report.h"

namespace tg::tune {
namespace {

constexpr char kTool[] = "tg-tune";

absl::StatusOr<std::string> RecordPath(const TuneFlags& flags) {
  if (!flags.record.empty()) return flags.record;
  const std::string folder = runtime::DefaultCacheDirectory();
  if (folder.empty()) return InvalidArgument("there is no cache folder; give --record=FILE");
  TG_RETURN_IF_ERROR(MakeFolder(folder));
  return folder + "/schedules.sqlite";
}

absl::Status Export(const TuneFlags& flags, const std::vector<search::Measurement>& measured) {
  std::vector<schedule::MeasuredSchedule> schedules = search::BestSchedules(measured);
  for (const std::string& path : flags.merged) {
    TG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
    TG_ASSIGN_OR_RETURN(const auto more, schedule::ParseScheduleFile(text, path));
    schedules.insert(schedules.end(), more.begin(), more.end());
  }
  return WriteFile(flags.export_file,
                   schedule::PrintScheduleFile(schedule::MergeSchedules(std::move(schedules))));
}

// Each rank has a record, which outlives a run that is killed. Afterwards all of them have what any
// of them has.
absl::Status Share(Ranks& ranks, search::Record& record) {
  if (ranks.count() == 1) return absl::OkStatus();
  TG_ASSIGN_OR_RETURN(const std::string own, search::RecordLines(record));
  TG_ASSIGN_OR_RETURN(const std::vector<std::string> all, ranks.AllGather(own));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (rank != ranks.number()) TG_RETURN_IF_ERROR(search::AddLines(all[rank], record));
  }
  return absl::OkStatus();
}

absl::Status Tune(const std::string& model, const TuneFlags& flags,
                  const passes::Pipeline& pipeline, Ranks& ranks) {
  TG_ASSIGN_OR_RETURN(std::string path, RecordPath(flags));
  if (ranks.number() > 0) path += Cat(".rank", ranks.number());
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<search::SqliteRecord> record,
                      search::SqliteRecord::Open(path));
  if (!model.empty()) {
    TG_RETURN_IF_ERROR(Share(ranks, *record));
    TG_RETURN_IF_ERROR(TuneModel(model, flags, pipeline, ranks, *record));
    TG_RETURN_IF_ERROR(Share(ranks, *record));
  }
  if (ranks.number() > 0) return absl::OkStatus();
  if (!flags.report && flags.export_file.empty()) return absl::OkStatus();
  TG_ASSIGN_OR_RETURN(const std::vector<search::Measurement> measured, record->All());
  if (flags.report) {
    TG_ASSIGN_OR_RETURN(const std::vector<search::RecordedKernel> kernels, record->Kernels());
    TG_RETURN_IF_ERROR(WriteStdout(PredictionReport(measured, kernels)));
  }
  return flags.export_file.empty() ? absl::OkStatus() : Export(flags, measured);
}

absl::StatusOr<passes::Pipeline> PipelineOf(const TuneFlags& flags,
                                            const passes::PassRegistry& registry) {
  absl::StatusOr<passes::Pipeline> pipeline =
      passes::ParsePipeline(flags.pass, registry, passes::kPipeline);
  if (!pipeline.ok()) return InvalidArgument("--pass: ", std::string(pipeline.status().message()));
  return flags.float16 ? runtime::WithHalf(registry, *std::move(pipeline)) : pipeline;
}

}  // namespace

int TuneMain(int argc, const char* const* argv, std::span<const passes::Pass* const> embedder,
             Ranks* ranks) {
  if (argc == 2 && std::string_view(argv[1]) == search::kWorkerFlag) {
    return search::RunWorker(embedder);
  }
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  runtime::KeepOpenClLayersFromChildren();
  instrument::TemporaryFile::RemoveOnSignals();
  TuneFlags values;
  driver::Flags flags(kTool, "[options] [MODEL]",
                      "Measures schedules of a model's kernels, and keeps the fastest.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> models =
      flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!models.ok()) return driver::Fail(kTool, driver::kUsage, models.status());
  const absl::StatusOr<std::string> listing =
      driver::DeviceToolListing(kTool, {values.help, values.version, values.list_devices}, flags);
  if (!listing.ok()) return driver::Fail(kTool, driver::kFailed, listing.status());
  if (values.help || values.version || values.list_devices) {
    const absl::Status status = WriteStdout(*listing);
    return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
  }
  if (const absl::Status status = values.Interpret(); !status.ok()) {
    return driver::Fail(kTool, driver::kUsage, status);
  }
  const passes::PassRegistry registry = passes::MakeRegistry(embedder);
  const absl::StatusOr<passes::Pipeline> pipeline = PipelineOf(values, registry);
  if (!pipeline.ok()) return driver::Fail(kTool, driver::kUsage, pipeline.status());
  const bool only_record = values.report || !values.export_file.empty();
  if (models->size() > 1 || (models->empty() && !only_record)) {
    return driver::Fail(
        kTool, driver::kUsage,
        InvalidArgument(models->empty() ? "no model is given; see tg-tune --help" : "one model"));
  }
  OneRank alone;
  const absl::Status status = Tune(models->empty() ? "" : models->front(), values, *pipeline,
                                   ranks == nullptr ? alone : *ranks);
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::tune
