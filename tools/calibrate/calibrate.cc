#include "tools/calibrate/calibrate.h"

#include <algorithm>
#include <cstdlib>

#include "base/status.h"
#include "passes/target_fields.h"
#include "runtime/report/format.h"
#include "runtime/session/device_target.h"
#include "tools/calibrate/probes.h"

namespace tg::calibrate {
namespace {

using runtime::FormatNumber;

// Three digits, as more are noise.
double Rounded(double x) { return std::strtod(FormatNumber("%.3g", x).c_str(), nullptr); }

std::string Giga(double rate, const char* unit) {
  return Cat(FormatNumber("%.1f", rate * 1e-9), " G", unit);
}

class Calibrator {
 public:
  Calibrator(const runtime::Device& device, Probes probes)
      : probes_(std::move(probes)), out_{runtime::TargetForDevice(device.info), {}, {}} {
    const uint32_t lanes = device.info.native.f32;
    if (probes_.is_cpu() && lanes > 1) {
      target().alu_width = target().mem_width = static_cast<int>(4 * lanes);
    }
  }

  absl::Status Run() {
    TG_RETURN_IF_ERROR(MeasureArithmetic());
    TG_RETURN_IF_ERROR(MeasureMemory());
    TG_RETURN_IF_ERROR(MeasureCaches());
    return MeasureOverheads();
  }

  Calibration Take() { return std::move(out_); }

 private:
  passes::Target& target() { return out_.target; }

  // The width of the widest vectors that are as fast as any, in floats.
  int MemoryVector() const { return std::clamp(out_.target.mem_width / 4, 1, 16); }

  absl::StatusOr<double> BestRate(Scalar type) {
    double best = 0;
    for (const int width : {1, 4, 8, 16}) {
      TG_ASSIGN_OR_RETURN(const double rate, probes_.MultiplyAdds(type, width));
      if (width == 1)
        out_.notes.push_back(Cat(GetScalarInfo(type).text, " scalars: ", Giga(rate, "FLOP/s")));
      best = std::max(best, rate);
    }
    return best;
  }

  absl::Status MeasureArithmetic() {
    TG_ASSIGN_OR_RETURN(const double f32, BestRate(Scalar::kF32));
    target().flops_per_second = Rounded(f32);
    const auto rate_of = [&](Scalar type, double& rate) -> absl::Status {
      TG_ASSIGN_OR_RETURN(const double measured, BestRate(type));
      rate = Rounded(measured / f32);
      return absl::OkStatus();
    };
    TG_RETURN_IF_ERROR(rate_of(Scalar::kI32, target().int_rate));
    if (target().fp64) TG_RETURN_IF_ERROR(rate_of(Scalar::kF64, target().f64_rate));
    if (target().fp16) TG_RETURN_IF_ERROR(rate_of(Scalar::kF16, target().f16_rate));
    if (target().inline_ptx) {
      TG_ASSIGN_OR_RETURN(const double rate, probes_.MatrixMultiplyAdds());
      target().matrix_flops_per_second = Rounded(rate);
    }
    return absl::OkStatus();
  }

  absl::Status MeasureMemory() {
    double copied = 0, scaled = 0, read = 0;
    for (const int width : {4, 16}) {
      TG_ASSIGN_OR_RETURN(const double c, probes_.CopyBytes(width));
      TG_ASSIGN_OR_RETURN(const double r, probes_.ReadBytes(width));
      TG_ASSIGN_OR_RETURN(const double s, probes_.CopyBytes(width, /*scaled=*/true));
      copied = std::max(copied, c), scaled = std::max(scaled, s), read = std::max(read, r);
    }
    out_.notes.push_back(Cat("copies: ", Giga(copied, "B/s"), ", read and written"));
    target().bytes_per_second = Rounded(read);
    // Each line moves once to be read, and `write_traffic` times for another to be written.
    target().write_traffic = Rounded(std::clamp(2 * read / scaled - 1, 1.0, 3.0));
    return absl::OkStatus();
  }

  absl::Status MeasureCaches() {
    const int width = MemoryVector();
    const size_t last = std::min<size_t>(size_t{256} << 20, probes_.info().max_allocation / 4);
    for (size_t bytes = 4096; bytes <= last; bytes *= 2) {
      for (const size_t set : {bytes, bytes + bytes / 2}) {
        if (set > last) continue;
        TG_ASSIGN_OR_RETURN(const double rate, probes_.GroupReads(set, width));
        out_.sweep.push_back({static_cast<double>(set), rate});
      }
    }
    const bool is_gpu = target().is_gpu;
    const std::vector<Plateau> found = FindPlateaus(out_.sweep, is_gpu ? 3 : 4);
    const auto bytes = [](const Plateau& p) { return static_cast<int64_t>(p.bytes); };
    const size_t caches = is_gpu ? 2 : 3;
    if (found.size() != caches + 1) {
      out_.notes.push_back(Cat("the sweep shows ", found.empty() ? 0 : found.size() - 1,
                               " caches, not ", caches, ": their fields are those of the preset"));
    } else {
      const size_t core = is_gpu ? 0 : 1;
      // Schedules fill this much with blocks of one operand: a third is left for the others.
      if (!is_gpu) target().near_cache_bytes = bytes(found[0]) / 3 * 2;
      target().core_cache_bytes = bytes(found[core]);
      target().shared_cache_bytes = bytes(found[core + 1]);
      target().core_cache_bytes_per_second = Rounded(found[core].bytes_per_second);
      target().shared_cache_bytes_per_second = Rounded(found[core + 1].bytes_per_second);
    }
    if (!found.empty()) target().unit_bytes_per_second = Rounded(found.back().bytes_per_second);
    return is_gpu ? absl::OkStatus() : MeasureIssue();
  }

  // Loads and stores that hit the nearest cache, as multiply-adds that begin in their time.
  absl::Status MeasureIssue() {
    const size_t small = static_cast<size_t>(target().near_cache_bytes) / 4;
    const int width = MemoryVector();
    const double vectors = target().flops_per_second / 2 / target().compute_units /
                           (std::max(target().alu_width, 4) / 4);
    TG_ASSIGN_OR_RETURN(const double reads, probes_.GroupReads(small, width));
    TG_ASSIGN_OR_RETURN(const double writes, probes_.GroupWrites(small, width));
    const auto weight = [&](double rate) { return Rounded(vectors / (rate / (4.0 * width))); };
    target().load_weight = weight(reads);
    target().store_weight = weight(writes);
    return absl::OkStatus();
  }

  absl::Status MeasureOverheads() {
    const size_t groups = probes_.is_cpu() ? 4096 : 65536;
    TG_ASSIGN_OR_RETURN(const double one, probes_.LaunchSeconds(1));
    TG_ASSIGN_OR_RETURN(const double many, probes_.LaunchSeconds(groups));
    const double rounds = static_cast<double>(groups) / target().compute_units;
    target().launch_seconds = Rounded(one);
    target().group_seconds = Rounded(std::max(0.0, many - one) / rounds);
    return absl::OkStatus();
  }

  Probes probes_;
  Calibration out_;
};

}  // namespace

absl::StatusOr<Calibration> Calibrate(const runtime::Device& device) {
  TG_ASSIGN_OR_RETURN(Probes probes, Probes::Create(device));
  Calibrator calibrator(device, std::move(probes));
  TG_RETURN_IF_ERROR(calibrator.Run());
  Calibration calibration = calibrator.Take();
  calibration.target.name = "calibrated";
  calibration.target.doc = device.info.name;
  return calibration;
}

std::string CalibrationText(const Calibration& calibration, const std::string& device) {
  std::string text = Cat("# ", device, "\n");
  for (const std::string& note : calibration.notes) text += Cat("# ", note, "\n");
  text += "# one work-group reads";
  for (size_t i = 0; i < calibration.sweep.size(); ++i) {
    const SweepPoint& point = calibration.sweep[i];
    text += Cat(i % 6 == 0 ? "\n#   " : ", ", runtime::FormatBytes(point.bytes), " at ",
                FormatNumber("%.1f", point.bytes_per_second * 1e-9));
  }
  return text + " GB/s\n" + passes::PrintTarget(calibration.target);
}

}  // namespace tg::calibrate
