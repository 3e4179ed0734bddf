#include "runtime/search/record_lines.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::search {
namespace {

using ScheduleId = std::tuple<std::string, std::string, std::string, std::string, std::string>;

ScheduleId IdOf(const Measurement& m) {
  return {m.kernel, m.target, m.driver, m.key, m.directives};
}

bool IsCompared(const Measurement& m) {
  return m.outcome == Outcome::kConfirmed || m.outcome == Outcome::kNoGain;
}

std::string TextIn(const llvm::json::Object& object, llvm::StringRef name) {
  const auto text = object.getString(name);
  return text ? text->str() : "";
}

absl::StatusOr<Measurement> ToMeasurement(const llvm::json::Object& object) {
  const auto text = [&](llvm::StringRef name) { return TextIn(object, name); };
  const auto number = [&](llvm::StringRef name) {
    const auto found = object.getNumber(name);
    return found ? *found : 0;
  };
  const std::optional<Outcome> outcome = OutcomeFromName(text("outcome"));
  if (!outcome) return InvalidArgument("no outcome: ", text("outcome"));
  return Measurement{text("kernel"),     text("target"), text("driver"),      text("key"),
                     text("directives"), *outcome,       number("predicted"), number("seconds"),
                     number("first"),    text("what")};
}

}  // namespace

absl::StatusOr<std::string> RecordLines(Record& record) {
  std::string lines;
  llvm::raw_string_ostream out(lines);
  TG_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements, record.All());
  for (const Measurement& m : measurements) {
    out << llvm::json::Value(llvm::json::Object{{"kernel", m.kernel},
                                                {"target", m.target},
                                                {"driver", llvm::json::fixUTF8(m.driver)},
                                                {"key", m.key},
                                                {"directives", m.directives},
                                                {"outcome", std::string(OutcomeName(m.outcome))},
                                                {"predicted", m.predicted_seconds},
                                                {"seconds", m.seconds},
                                                {"first", m.first_seconds},
                                                {"what", llvm::json::fixUTF8(m.what)}})
        << "\n";
  }
  TG_ASSIGN_OR_RETURN(const std::vector<RecordedKernel> kernels, record.Kernels());
  for (const RecordedKernel& kernel : kernels) {
    out << llvm::json::Value(llvm::json::Object{{"kernel", kernel.kernel},
                                                {"name", kernel.name},
                                                {"module", llvm::json::fixUTF8(kernel.module)}})
        << "\n";
  }
  return out.str();
}

absl::Status AddLines(std::string_view lines, Record& record) {
  TG_ASSIGN_OR_RETURN(const std::vector<Measurement> known, record.All());
  std::map<ScheduleId, const Measurement*> by_id;
  for (const Measurement& m : known) by_id[IdOf(m)] = &m;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(lines.data(), lines.size()).split(parts, '\n', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef line : parts) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
    if (!value) return InvalidArgument(llvm::toString(value.takeError()));
    const llvm::json::Object* object = value->getAsObject();
    if (object == nullptr) return InvalidArgument("no object: ", line.str());
    if (const auto module = object->getString("module")) {
      TG_RETURN_IF_ERROR(
          record.AddKernel({TextIn(*object, "kernel"), TextIn(*object, "name"), module->str()}));
      continue;
    }
    TG_ASSIGN_OR_RETURN(const Measurement m, ToMeasurement(*object));
    const auto before = by_id.find(IdOf(m));
    const bool is_known = before != by_id.end();
    if (is_known && (IsCompared(*before->second) || !IsCompared(m))) continue;
    TG_RETURN_IF_ERROR(record.Add(m));
  }
  return absl::OkStatus();
}

}  // namespace tg::search
