#include "tools/train/trainer.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/write_file.h"

namespace tg::train {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

absl::StatusOr<double> ReadNumber(runtime::Session& session, const char* name) {
  float number = 0;
  TG_RETURN_IF_ERROR(session.GetInto(name, std::as_writable_bytes(std::span(&number, 1))));
  return number;
}

class Trainer {
 public:
  Trainer(runtime::Session& session, const TrainingModule& training, Samples& samples,
          Samples* held_out, const TrainOptions& options,
          const std::function<void(const std::string&)>& log)
      : session_(session),
        training_(training),
        samples_(samples),
        held_out_(held_out),
        options_(options),
        log_(log) {
    states_ = training.weights;
    states_.insert(states_.end(), training.statistics.begin(), training.statistics.end());
    result_ = states_;
    states_.insert(states_.end(), training.accumulators.begin(), training.accumulators.end());
  }

  absl::Status Run() {
    TG_RETURN_IF_ERROR(PrepareStates());
    if (options_.resume && std::filesystem::exists(options_.checkpoint)) {
      TG_ASSIGN_OR_RETURN(
          progress_, ReadCheckpoint(options_.checkpoint, session_, states_, options_.settings));
      log_(absl::StrFormat("%s: continues with step %d of epoch %d", options_.checkpoint,
                           progress_.batch + 1, progress_.epoch + 1));
    }
    TG_RETURN_IF_ERROR(
        Save());  // a file that cannot be written is an error now, not after an epoch
    TG_RETURN_IF_ERROR(WriteReport());
    start_ = Clock::now();
    while (progress_.epoch < options_.epochs && !HasLostPatience()) {
      TG_RETURN_IF_ERROR(RunEpoch());
      TG_RETURN_IF_ERROR(EndEpoch());
    }
    if (options_.patience > 0 && !progress_.best.empty()) {
      TG_RETURN_IF_ERROR(SetStates(session_, progress_.best));
    }
    return absl::OkStatus();
  }

 private:
  // Gives all states their first contents, so that they can be read. An evaluation loads those of
  // the weights and statistics.
  absl::Status PrepareStates() {
    for (const std::string& name : training_.accumulators) {
      TG_ASSIGN_OR_RETURN(const runtime::HostTensor zeros, ZerosFor(*training_.module, name));
      TG_RETURN_IF_ERROR(session_.Set(name, zeros));
    }
    TG_RETURN_IF_ERROR(samples_.SetBatch(session_, PlainOrder(samples_.size()), 0).status());
    return session_.Run(kEvalGraph);
  }

  bool HasLostPatience() const {
    return options_.patience > 0 && progress_.epochs_since_best >= options_.patience;
  }

  absl::Status RunEpoch() {
    const std::vector<int64_t> order =
        ShuffledOrder(samples_.size(), options_.seed, progress_.epoch);
    while (progress_.batch < samples_.NumBatches()) {
      Tensors before;
      if (options_.check_nan) {
        TG_ASSIGN_OR_RETURN(before, ReadStates(session_, states_));
      }
      TG_ASSIGN_OR_RETURN(const int64_t counted,
                          samples_.SetBatch(session_, order, progress_.batch));
      TG_RETURN_IF_ERROR(session_.Run(kTrainGraph));
      TG_ASSIGN_OR_RETURN(const double loss, ReadNumber(session_, kLossSum));
      if (!std::isfinite(loss)) return NotFinite(loss, before);
      progress_.loss_sum += loss;
      if (training_.has_accuracy) {
        TG_ASSIGN_OR_RETURN(const double right, ReadNumber(session_, kAccuracySum));
        progress_.accuracy_sum += right;
      }
      trained_ += counted;
      ++progress_.batch;
      const int64_t step = progress_.epoch * samples_.NumBatches() + progress_.batch;
      if (options_.checkpoint_steps > 0 && step % options_.checkpoint_steps == 0) {
        TG_RETURN_IF_ERROR(Save());
      }
    }
    return absl::OkStatus();
  }

  absl::Status NotFinite(double loss, const Tensors& before) {
    const std::string where = absl::StrFormat("the loss is %g at step %d of epoch %d", loss,
                                              progress_.batch + 1, progress_.epoch + 1);
    if (!options_.check_nan) return InvalidArgument(where, "; --check-nan tells which op made it");
    TG_ASSIGN_OR_RETURN(const std::string node, FindNotFinite(session_, *training_.module, before));
    return InvalidArgument(where, node.empty()
                                      ? "; the reference computes finite values"
                                      : Cat("; the first value that is not finite: ", node));
  }

  absl::Status EndEpoch() {
    const auto n = static_cast<double>(samples_.size());
    std::string line = absl::StrFormat("epoch %d/%d  loss %.4f", progress_.epoch + 1,
                                       options_.epochs, progress_.loss_sum / n);
    if (training_.has_accuracy) {
      absl::StrAppendFormat(&line, "  accuracy %.2f %%", 100 * progress_.accuracy_sum / n);
    }
    EpochScore& score = progress_.curves.emplace_back();
    score.loss = progress_.loss_sum / n;
    if (training_.has_accuracy) score.accuracy = progress_.accuracy_sum / n;
    if (held_out_) TG_RETURN_IF_ERROR(EvaluateEpoch(line));
    ++progress_.epoch;
    progress_.batch = 0;
    progress_.loss_sum = progress_.accuracy_sum = 0;
    const double seconds = SecondsSince(start_), rate = static_cast<double>(trained_) / seconds;
    const double left = static_cast<double>(options_.epochs - progress_.epoch) * n / rate;
    absl::StrAppendFormat(&line, "  %.0f samples/s  %.0f s left", rate, left);
    log_(line);
    TG_RETURN_IF_ERROR(WriteReport());
    return Save();
  }

  absl::Status EvaluateEpoch(std::string& line) {
    TG_ASSIGN_OR_RETURN(const Score score, Evaluate(session_, training_, *held_out_));
    absl::StrAppendFormat(&line, "  held out: loss %.4f", score.loss);
    if (training_.has_accuracy) {
      absl::StrAppendFormat(&line, "  accuracy %.2f %%", 100 * score.accuracy);
    }
    progress_.curves.back().held_out_loss = score.loss;
    if (training_.has_accuracy) progress_.curves.back().held_out_accuracy = score.accuracy;
    if (progress_.epochs_since_best < 0 || score.loss < progress_.best_loss) {
      progress_.best_loss = score.loss;
      progress_.epochs_since_best = 0;
      if (options_.patience > 0) {
        TG_ASSIGN_OR_RETURN(progress_.best, ReadStates(session_, result_));
      }
    } else if (++progress_.epochs_since_best == options_.patience && options_.patience > 0) {
      absl::StrAppendFormat(&line, "  stops: no better loss for %d epochs", options_.patience);
    }
    return absl::OkStatus();
  }

  absl::Status WriteReport() {
    if (options_.report.empty()) return absl::OkStatus();
    return WriteFile(options_.report, CurvesPage(options_.settings, progress_.curves));
  }

  absl::Status Save() {
    if (options_.checkpoint.empty()) return absl::OkStatus();
    TG_ASSIGN_OR_RETURN(const Tensors states, ReadStates(session_, states_));
    return WriteCheckpoint(options_.checkpoint, states, progress_, options_.settings);
  }

  runtime::Session& session_;
  const TrainingModule& training_;
  Samples& samples_;
  Samples* const held_out_;
  const TrainOptions& options_;
  const std::function<void(const std::string&)>& log_;
  std::vector<std::string> states_, result_;  // all, and those of the trained model
  Progress progress_;
  Clock::time_point start_;
  int64_t trained_ = 0;  // samples since the start of this process
};

}  // namespace

absl::Status Train(runtime::Session& session, const TrainingModule& training, Samples& samples,
                   Samples* held_out, const TrainOptions& options,
                   const std::function<void(const std::string&)>& log) {
  return Trainer(session, training, samples, held_out, options, log).Run();
}

absl::StatusOr<Score> Evaluate(runtime::Session& session, const TrainingModule& training,
                               Samples& samples) {
  Score score;
  const std::vector<int64_t> order = PlainOrder(samples.size());
  for (int64_t b = 0; b < samples.NumBatches(); ++b) {
    TG_RETURN_IF_ERROR(samples.SetBatch(session, order, b).status());
    TG_RETURN_IF_ERROR(session.Run(kEvalGraph));
    TG_ASSIGN_OR_RETURN(const double loss, ReadNumber(session, kLossSum));
    score.loss += loss;
    if (!training.has_accuracy) continue;
    TG_ASSIGN_OR_RETURN(const double right, ReadNumber(session, kAccuracySum));
    score.accuracy += right;
  }
  const auto n = static_cast<double>(samples.size());
  return Score{score.loss / n, score.accuracy / n};
}

}  // namespace tg::train
