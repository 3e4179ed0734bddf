#include "runtime/opencl/build_log.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/status.h"
#include "runtime/opencl/source_functions.h"

namespace tg::runtime {
namespace {

constexpr size_t kMaxLog = 4000;
constexpr size_t kMaxLine = 400;
constexpr size_t kMaxKernels = 5;  // that a message names

struct Place {
  size_t line = 0, column = 0;  // both count from 1
  std::string_view message;
};

// Parses and removes a number followed by ':' at the start of `text`.
std::optional<size_t> TakeNumberAndColon(std::string_view& text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return value;
}

// Finds ":LINE:COLUMN: message" in one line of a log.
std::optional<Place> FindPlace(std::string_view line) {
  for (size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
    std::string_view rest = line.substr(at + 1);
    const std::optional<size_t> row = TakeNumberAndColon(rest);
    if (!row.has_value() || *row == 0) continue;
    const std::optional<size_t> column = TakeNumberAndColon(rest);
    if (!column.has_value() || *column == 0) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.substr(0, 7) == "error: ") rest.remove_prefix(7);
    return Place{*row, *column, rest};
  }
  return std::nullopt;
}

std::optional<Place> FirstError(std::string_view log) {
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.find("error") == std::string_view::npos) continue;
    if (const std::optional<Place> place = FindPlace(line); place.has_value()) return place;
  }
  return std::nullopt;
}

// Returns the offset of line `number` (from 1) in `text`, or npos.
size_t LineStart(std::string_view text, size_t number) {
  size_t at = 0;
  for (size_t i = 1; i < number; ++i) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return at;
    ++at;
  }
  return at;
}

// Names the kernel that the error is in, and the function if it is another one:
// "kernel @r_4, in sum_of: ".
std::string WhereIn(std::string_view source, size_t offset) {
  const std::vector<SourceFunction> functions = FunctionsIn(source);
  const SourceFunction* function = FunctionAt(functions, offset);
  if (function == nullptr) return "";
  const SourceFunction* kernel = KernelThatUses(functions, *function);
  if (kernel == nullptr) return "";
  if (kernel == function) return Cat("kernel @", kernel->name, ": ");
  return Cat("kernel @", kernel->name, ", in ", function->name, ": ");
}

// Names the kernels of a program, for a log that does not tell where the error is.
std::string AnyOf(std::string_view source) {
  std::string names;
  size_t count = 0;
  for (const SourceFunction& f : FunctionsIn(source)) {
    if (!f.is_kernel || ++count > kMaxKernels) continue;
    names += Cat(names.empty() ? "@" : ", @", f.name);
  }
  if (count == 0) return "";
  if (count > kMaxKernels) names += Cat(" and ", count - kMaxKernels, " more");
  return Cat(count == 1 ? "kernel " : "one of the kernels ", names, ": ");
}

}  // namespace

std::string DescribeBuildLog(std::string_view log, std::string_view source) {
  std::string out;
  if (const std::optional<Place> place = FirstError(log); place.has_value()) {
    const size_t start = LineStart(source, place->line);
    if (start != std::string_view::npos) {
      const std::string_view line = source.substr(start, source.find('\n', start) - start);
      // A column behind the line is at its last character.
      const size_t column = std::min(place->column, std::max<size_t>(line.size(), 1));
      out += WhereIn(source, start + column - 1);
      out += Cat("line ", place->line, ", column ", place->column, ": ", place->message, "\n");
      out += Cat("    ", line.substr(0, kMaxLine), "\n");
      if (place->column <= std::min(line.size() + 1, kMaxLine)) {
        out += Cat(std::string(3 + place->column, ' '), "^\n");
      }
      out += "compiler's log:\n";
    }
  }
  if (out.empty()) out = AnyOf(source);
  out += log.substr(0, kMaxLog);
  if (log.size() > kMaxLog) out += Cat("\n... (", log.size() - kMaxLog, " more characters)");
  return out;
}

bool NamesPlace(std::string_view log) { return FirstError(log).has_value(); }

}  // namespace tg::runtime
