#include "tools/bench/bench_run.h"

#include <ctime>
#include <filesystem>
#include <utility>

#include "base/status.h"
#include "passes/pipeline.h"
#include "runtime/base/spans.h"
#include "runtime/devices/devices.h"
#include "runtime/io/npy.h"
#include "runtime/report/format.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/device_session.h"
#include "runtime/session/device_target.h"
#include "runtime/session/open.h"
#include "runtime/session/open_devices.h"
#include "tools/driver/predicted_costs.h"

namespace tg::bench {
namespace {

namespace fs = std::filesystem;

using runtime::HostTensor;
using runtime::Session;

constexpr uint64_t kSeed = 1;
constexpr char kReferenceDevice[] = "reference";

// A folder that is removed with the object.
class ScratchFolder {
 public:
  static absl::StatusOr<ScratchFolder> Make() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "tg-bench-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return absl::UnavailableError(Cat("cannot make a folder ", name));
    }
    return ScratchFolder(name);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[16] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

absl::StatusOr<double> SecondsOfRun(Session& session, int64_t times) {
  const int64_t start = runtime::HostNanos();
  TG_RETURN_IF_ERROR(session.Run("main", times));
  return static_cast<double>(runtime::HostNanos() - start) * 1e-9 / static_cast<double>(times);
}

}  // namespace

absl::Status BenchRun::Prepare() {
  report_ = {};
  report_.date = Today();
  report_.device = options_.device;
  if (options_.device != kReferenceDevice) {
    TG_ASSIGN_OR_RETURN(const runtime::Device device, runtime::ChooseDevice(options_.device));
    TG_ASSIGN_OR_RETURN(const passes::Target target,
                        runtime::ChooseTarget(options_.target, "", device.info));
    report_.device = device.info.name;
    report_.target = target.name;
    if (!options_.check_only) {
      TG_ASSIGN_OR_RETURN(report_.limits, MeasureLimits(device));
      tell_(HeadText(report_));
    }
  } else if (!options_.check_only) {
    return InvalidArgument("the interpreter is not timed; with --check-only it is checked");
  }
  if (!options_.peer_script.empty()) {
    TG_ASSIGN_OR_RETURN(peers_, PeerProcess::Start(options_.python, options_.peer_script));
    report_.peers = peers_->peers();
  }
  return absl::OkStatus();
}

absl::Status BenchRun::Run(const std::vector<Row>& rows) {
  TG_RETURN_IF_ERROR(Prepare());
  size_t failed = 0;
  for (const Row& row : rows) {
    const absl::Status status = RunRow(row);
    if (status.ok()) continue;
    if (absl::IsUnavailable(status)) return status;  // the peers are gone
    ++failed;
    tell_(Cat("error: ", std::string(status.message()), "\n"));
  }
  if (failed == 0) return absl::OkStatus();
  return absl::InternalError(Cat(failed, " of ", rows.size(), " rows failed"));
}

absl::StatusOr<std::unique_ptr<Session>> BenchRun::Open(const Row& row, MeasuredRow& measured) {
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, BuildModule(row));
  if (options_.device == kReferenceDevice) {
    return runtime::OpenSession(std::move(module), kReferenceDevice);
  }
  runtime::OpenOptions open(options_.device);
  open.devices.specialize = false;  // one size is measured
  open.target = options_.target;
  open.cache = &cache_;
  driver::PredictedCosts costs;
  open.passes.observer = &costs;
  open.on_compiled = [&](const Module& compiled, runtime::DeviceSessionOptions& session) {
    if (const auto predicted = costs.Of(*compiled.FindGraph("main"), session.target.name)) {
      measured.predicted_seconds = predicted->seconds;
      measured.predicted_limit = predicted->limit;
    }
    return absl::OkStatus();
  };
  return runtime::OpenDeviceSession(std::move(module), open);
}

absl::StatusOr<std::vector<std::string>> BenchRun::OpenPeers(
    const Row& row, const std::vector<HostTensor>& operands, const Reference& reference) {
  std::vector<std::string> names;
  if (peers_ == nullptr) return names;
  TG_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Make());
  const std::vector<Operand> declared = OperandsOf(row);
  for (size_t i = 0; i < operands.size(); ++i) {
    TG_RETURN_IF_ERROR(
        runtime::WriteNpy(Cat(folder.path(), "/", declared[i].name, ".npy"), operands[i]));
  }
  TG_ASSIGN_OR_RETURN(const auto results, peers_->Open(row, folder.path()));
  for (const auto& [name, file] : results) {
    TG_ASSIGN_OR_RETURN(const HostTensor result, runtime::ReadNpy(file));
    if (const absl::Status status = reference.Check(result); !status.ok()) {
      return absl::InternalError(Cat("peer ", name, ": ", std::string(status.message())));
    }
    names.push_back(name);
  }
  return names;
}

absl::Status BenchRun::RunRow(const Row& row) {
  MeasuredRow measured;
  measured.row = row;
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Open(row, measured));
  TG_ASSIGN_OR_RETURN(std::vector<HostTensor> operands, RandomOperands(row, kSeed));
  const std::vector<Operand> declared = OperandsOf(row);
  for (size_t i = 0; i < operands.size(); ++i) {
    TG_RETURN_IF_ERROR(session->Set(declared[i].name, operands[i]));
  }
  TG_RETURN_IF_ERROR(session->Run("main"));
  std::vector<std::string> peers;
  {
    TG_ASSIGN_OR_RETURN(const HostTensor result, session->Get("y"));
    const Reference reference(row, operands);
    TG_RETURN_IF_ERROR(reference.Check(result));
    TG_ASSIGN_OR_RETURN(peers, OpenPeers(row, operands, reference));
  }
  operands.clear();
  if (!options_.check_only) return Measure(std::move(measured), *session, peers);
  tell_(Cat(row.name, ": the values are right\n"));
  return absl::OkStatus();
}

absl::Status BenchRun::Measure(MeasuredRow measured, Session& session,
                               const std::vector<std::string>& peers) {
  std::vector<Contestant> contestants;
  contestants.push_back({"tg", [&](int64_t times) { return SecondsOfRun(session, times); }});
  for (const std::string& name : peers) {
    contestants.push_back({name, [&, name](int64_t times) { return peers_->Run(name, times); }});
  }
  TG_ASSIGN_OR_RETURN(std::vector<Timing> timings, TakeTurns(contestants, options_.timing));
  measured.limit_seconds = LimitSeconds(measured.row, report_.limits);
  measured.tg = std::move(timings[0]);
  for (size_t i = 0; i < peers.size(); ++i) {
    measured.peers.emplace_back(peers[i], std::move(timings[i + 1]));
  }
  std::string line = Cat(measured.row.name, ": ", runtime::FormatSeconds(measured.tg.median()));
  for (const auto& [name, timing] : measured.peers) {
    line += Cat(", ", name, " ", runtime::FormatSeconds(timing.median()));
  }
  tell_(line + "\n");
  report_.rows.push_back(std::move(measured));
  return absl::OkStatus();
}

}  // namespace tg::bench
