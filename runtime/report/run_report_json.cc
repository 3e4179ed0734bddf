// RunReport as JSON, by the fields that its structs list.
#include <concepts>
#include <optional>
#include <type_traits>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/report/run_report.h"

namespace tg::runtime {
namespace {

namespace json = llvm::json;

struct AnyField {
  template <typename T>
  void operator()(const char*, T&) const {}
};
template <typename T>
concept Record = requires(T& record) {
  T::Fields(record, AnyField());
};

void Write(json::OStream& out, const std::string& text) {
  if (json::isUTF8(text)) {
    out.value(text);
  } else {
    out.value(json::fixUTF8(text));
  }
}
void Write(json::OStream& out, bool value) { out.value(value); }
void Write(json::OStream& out, int64_t value) { out.value(value); }
void Write(json::OStream& out, double value) { out.value(value); }
template <typename T>
void Write(json::OStream& out, const std::vector<T>& list);
template <typename T>
void Write(json::OStream& out, const std::optional<T>& value);
template <Record T>
void Write(json::OStream& out, const T& record) {
  out.object([&] {
    T::Fields(record, [&](const char* name, const auto& field) {
      out.attributeBegin(name);
      Write(out, field);
      out.attributeEnd();
    });
  });
}
template <typename T>
void Write(json::OStream& out, const std::optional<T>& value) {
  if (value) {
    Write(out, *value);
  } else {
    out.value(nullptr);
  }
}
template <typename T>
void Write(json::OStream& out, const std::vector<T>& list) {
  out.array([&] {
    for (const T& element : list) Write(out, element);
  });
}

// Each Read returns an error that begins with `path`, or an empty string.
template <typename T>
std::string Assign(std::optional<T> value, T& out, const std::string& path, const char* what) {
  if (!value) return Cat(path, " is not ", what);
  out = *std::move(value);
  return "";
}
// LLVM 14 has another optional.
template <typename Optional>
auto Standard(const Optional& value) {
  using T = std::decay_t<decltype(*value)>;
  return value ? std::optional<T>(*value) : std::nullopt;
}

std::string Read(const json::Value& value, std::string& out, const std::string& path) {
  const auto text = value.getAsString();
  return Assign(text ? std::optional(text->str()) : std::nullopt, out, path, "a string");
}
std::string Read(const json::Value& value, bool& out, const std::string& path) {
  return Assign(Standard(value.getAsBoolean()), out, path, "true or false");
}
std::string Read(const json::Value& value, int64_t& out, const std::string& path) {
  return Assign(Standard(value.getAsInteger()), out, path, "an integer");
}
std::string Read(const json::Value& value, double& out, const std::string& path) {
  return Assign(Standard(value.getAsNumber()), out, path, "a number");
}
template <typename T>
std::string Read(const json::Value& value, std::vector<T>& out, const std::string& path);
template <Record T>
std::string Read(const json::Value& value, T& out, const std::string& path);
template <typename T>
std::string Read(const json::Value& value, std::optional<T>& out, const std::string& path);
template <typename T>
std::string Read(const json::Value& value, std::optional<T>& out, const std::string& path) {
  out.reset();
  return value.kind() == json::Value::Null ? "" : Read(value, out.emplace(), path);
}
template <Record T>
std::string Read(const json::Value& value, T& out, const std::string& path) {
  const json::Object* object = value.getAsObject();
  if (object == nullptr) return Cat(path.empty() ? "it" : path, " is not an object");
  std::string error;
  T::Fields(out, [&](const char* name, auto& field) {
    if (!error.empty()) return;
    const std::string place = path.empty() ? name : Cat(path, ".", name);
    const json::Value* found = object->get(name);
    error = found == nullptr ? Cat(place, " is missing") : Read(*found, field, place);
  });
  return error;
}
template <typename T>
std::string Read(const json::Value& value, std::vector<T>& out, const std::string& path) {
  const json::Array* array = value.getAsArray();
  if (array == nullptr) return Cat(path, " is not a list");
  out.clear();
  for (size_t i = 0; i < array->size(); ++i) {
    std::string error = Read((*array)[i], out.emplace_back(), Cat(path, "[", i, "]"));
    if (!error.empty()) return error;
  }
  return "";
}

// Numbers of other parts of the report are within bounds.
std::string CheckNumbers(const RunReport& report) {
  const auto is_in = [](int64_t number, const auto& list) {
    return number >= 0 && static_cast<size_t>(number) < list.size();
  };
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelReport& kernel = report.kernels[i];
    const std::string path = Cat("kernels[", i, "]");
    if (!is_in(kernel.device, report.devices)) return Cat(path, ".device: there is no such device");
    if (kernel.source && !is_in(*kernel.source, report.sources)) {
      return Cat(path, ".source: there is no such source");
    }
    for (const UseReport& use : kernel.uses) {
      if (!is_in(use.buffer, report.buffers)) return Cat(path, ".uses: there is no such buffer");
    }
  }
  for (size_t i = 0; i < report.buffers.size(); ++i) {
    const BufferReport& buffer = report.buffers[i];
    if (!is_in(buffer.first, report.kernels) || !is_in(buffer.last, report.kernels)) {
      return Cat("buffers[", i, "]: there is no such kernel");
    }
  }
  return "";
}

}  // namespace

std::string ReportToJson(const RunReport& report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  Write(out, report);
  return stream.str();
}

absl::StatusOr<RunReport> ReportFromJson(std::string_view text) {
  llvm::Expected<json::Value> value = json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value) return InvalidArgument("no JSON: ", llvm::toString(value.takeError()));
  const json::Object* object = value->getAsObject();
  const json::Value* version = object == nullptr ? nullptr : object->get("tg_report");
  if (version == nullptr) return InvalidArgument("no report of tg-run: it has no tg_report");
  RunReport report;
  std::string error = Read(*version, report.tg_report, "tg_report");
  if (error.empty() && report.tg_report != kReportVersion) {
    error = Cat("version ", report.tg_report, ", not ", kReportVersion);
  }
  if (error.empty()) error = Read(*value, report, "");
  if (error.empty()) error = CheckNumbers(report);
  if (!error.empty())
    return InvalidArgument("no report of tg-run that this version reads: ", error);
  return report;
}

}  // namespace tg::runtime
