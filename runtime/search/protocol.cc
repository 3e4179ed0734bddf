#include "runtime/search/protocol.h"

#include <utility>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::search {
namespace {

namespace json = llvm::json;

constexpr std::pair<Outcome, const char*> kOutcomes[] = {
    {Outcome::kMeasured, "measured"},
    {Outcome::kRefused, "refused"},
    {Outcome::kDiffers, "wrong values"},
    {Outcome::kCrashed, "crashed"},
    {Outcome::kHung, "hung"},
    {Outcome::kConfirmed, "confirmed"},
    {Outcome::kNoGain, "no gain in the model"},
    {Outcome::kFirst, "chosen"},
};

std::string LineOf(json::Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(object)) << "\n";
  return text;
}

absl::StatusOr<json::Object> ParseObject(std::string_view line) {
  llvm::Expected<json::Value> value = json::parse(line);
  if (!value) return InvalidArgument(llvm::toString(value.takeError()));
  json::Object* object = value->getAsObject();
  if (object == nullptr) return InvalidArgument("no object: ", line);
  return std::move(*object);
}

std::string StringOf(const json::Object& object, llvm::StringRef name) {
  const auto text = object.getString(name);
  return text ? text->str() : "";
}

double NumberOf(const json::Object& object, llvm::StringRef name) {
  const auto number = object.getNumber(name);
  return number ? *number : 0;
}

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  for (const auto& [value, name] : kOutcomes) {
    if (value == outcome) return name;
  }
  return "";
}

std::optional<Outcome> OutcomeFromName(std::string_view name) {
  for (const auto& [outcome, text] : kOutcomes) {
    if (name == text) return outcome;
  }
  return std::nullopt;
}

std::string ToLine(const Job& job) {
  json::Object inputs, vars, copies;
  for (const auto& [name, file] : job.inputs) inputs[name] = file;
  for (const auto& [name, value] : job.vars) vars[name] = value;
  for (const auto& [name, value] : job.copies) copies[name] = value;
  return LineOf(json::Object{{"module", job.module},
                             {"device", job.device},
                             {"target", job.target},
                             {"pipeline", job.pipeline},
                             {"scratch", job.scratch},
                             {"inputs", std::move(inputs)},
                             {"vars", std::move(vars)},
                             {"copies", std::move(copies)}});
}

std::string ToLine(const Request& request) {
  return LineOf(json::Object{{"key", request.key},
                             {"directives", request.directives},
                             {"only_compile", request.only_compile}});
}

std::string ToLine(const Answer& answer) {
  return LineOf(json::Object{{"outcome", std::string(OutcomeName(answer.outcome))},
                             {"seconds", answer.seconds},
                             {"first", answer.first_seconds},
                             {"what", json::fixUTF8(answer.what)}});
}

bool IsJob(std::string_view line) {
  const absl::StatusOr<json::Object> object = ParseObject(line);
  return object.ok() && object->get("module") != nullptr;
}

absl::StatusOr<Job> ParseJob(std::string_view line) {
  TG_ASSIGN_OR_RETURN(const json::Object object, ParseObject(line));
  Job job = {StringOf(object, "module"),
             StringOf(object, "device"),
             StringOf(object, "target"),
             StringOf(object, "pipeline"),
             StringOf(object, "scratch"),
             {},
             {},
             {}};
  if (job.module.empty()) return InvalidArgument("no module: ", line);
  if (const json::Object* inputs = object.getObject("inputs")) {
    for (const auto& [name, file] : *inputs) {
      if (const auto text = file.getAsString()) job.inputs[name.str()] = text->str();
    }
  }
  for (const auto& [field, numbers] :
       {std::pair("vars", &job.vars), std::pair("copies", &job.copies)}) {
    const json::Object* found = object.getObject(field);
    if (found == nullptr) continue;
    for (const auto& [name, value] : *found) {
      if (const auto number = value.getAsInteger()) (*numbers)[name.str()] = *number;
    }
  }
  return job;
}

absl::StatusOr<Request> ParseRequest(std::string_view line) {
  TG_ASSIGN_OR_RETURN(const json::Object object, ParseObject(line));
  const auto only_compile = object.getBoolean("only_compile");
  return Request{StringOf(object, "key"), StringOf(object, "directives"),
                 only_compile && *only_compile};
}

absl::StatusOr<Answer> ParseAnswer(std::string_view line) {
  TG_ASSIGN_OR_RETURN(const json::Object object, ParseObject(line));
  const std::optional<Outcome> outcome = OutcomeFromName(StringOf(object, "outcome"));
  if (!outcome) return InvalidArgument("no outcome: ", line);
  return Answer{*outcome, NumberOf(object, "seconds"), NumberOf(object, "first"),
                StringOf(object, "what")};
}

}  // namespace tg::search
