#include "passes/schedule/schedule_file.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/strings/str_format.h"
#include "base/hash.h"
#include "base/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "passes/analysis/structural_key.h"
#include "passes/directives/directives.h"

namespace tg::schedule {
namespace {

constexpr char kFirstLine[] = "tg-schedules 1";
// Longer names occur in no module; a number of more digits does not fit 64 bits.
constexpr size_t kMaxWord = 64;

bool IsWord(llvm::StringRef text) {
  return !text.empty() && text.size() <= kMaxWord &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

absl::Status NoDirective(llvm::StringRef text) {
  return InvalidArgument("'", text.str(), "' is no directive such as local(i0, 4)");
}

// `text`: without the closing parenthesis.
absl::StatusOr<Directive> ParseOne(llvm::StringRef text) {
  const auto [name, arguments] = text.split('(');
  if (name.size() == text.size() || !IsWord(name)) return NoDirective(text);
  Directive directive;
  directive.name = name.str();
  llvm::SmallVector<llvm::StringRef, 4> pieces;
  arguments.split(pieces, ',');
  for (const llvm::StringRef piece : pieces) {
    const llvm::StringRef word = piece.trim();
    DirectiveArg& argument = directive.args.emplace_back();
    if (!word.getAsInteger(10, argument.number)) continue;
    if (!IsWord(word)) {
      return InvalidArgument("'", word.str(), "' is no argument of ", directive.name);
    }
    argument.ident = word.str();
  }
  return directive;
}

absl::StatusOr<MeasuredSchedule> ParseLine(llvm::StringRef line) {
  constexpr size_t kFields = 6;
  llvm::SmallVector<llvm::StringRef, kFields> fields;
  line.split(fields, '|');
  for (llvm::StringRef& field : fields) field = field.trim();
  if (fields.size() != kFields) {
    return InvalidArgument("a line has ", kFields, " fields between bars, not ", fields.size());
  }
  MeasuredSchedule schedule;
  schedule.key = fields[0].str();
  schedule.target = fields[1].str();
  schedule.driver = fields[2].str();
  if (fields[0].size() != 16 ||
      fields[0].find_first_not_of("0123456789abcdef") != llvm::StringRef::npos) {
    return InvalidArgument("'", schedule.key, "' is no key of 16 hexadecimal digits");
  }
  for (const auto& [text, value] :
       {std::pair(fields[3], &schedule.first_seconds), std::pair(fields[4], &schedule.seconds)}) {
    if (text.getAsDouble(*value) || !std::isfinite(*value) || *value <= 0) {
      return InvalidArgument("'", text.str(), "' is no time in seconds");
    }
  }
  TG_ASSIGN_OR_RETURN(schedule.directives, ParseDirectives(fields[5]));
  return schedule;
}

auto Identity(const MeasuredSchedule& s) { return std::tie(s.key, s.target, s.driver); }
double Share(const MeasuredSchedule& s) { return s.seconds / s.first_seconds; }

}  // namespace

std::string KernelKey(const Body& body) {
  const uint64_t hash = Fnv64(analysis::StructuralKey(body, body.Order()));
  return absl::StrFormat("%016x", hash);
}

std::string DirectivesText(const std::vector<Directive>& directives) {
  std::string text;
  for (const Directive& directive : directives) {
    text += (text.empty() ? "" : ", ") + directive::DirectiveText(directive);
  }
  return text.empty() ? "-" : text;
}

absl::StatusOr<std::vector<Directive>> ParseDirectives(std::string_view text) {
  std::vector<Directive> directives;
  llvm::StringRef rest = llvm::StringRef(text).trim();
  if (rest == "-") return directives;
  while (true) {
    const size_t close = rest.find(')');
    if (close == llvm::StringRef::npos) return NoDirective(rest);
    TG_ASSIGN_OR_RETURN(Directive directive, ParseOne(rest.take_front(close)));
    directives.push_back(std::move(directive));
    rest = rest.drop_front(close + 1).ltrim();
    if (rest.empty()) return directives;
    if (!rest.consume_front(",")) {
      return InvalidArgument("there is no comma before '", rest.str(), "'");
    }
    rest = rest.ltrim();
  }
}

std::string PrintScheduleFile(std::vector<MeasuredSchedule> schedules) {
  std::vector<std::string> lines;
  for (const MeasuredSchedule& s : schedules) {
    lines.push_back(Cat(s.key, " | ", s.target, " | ", s.driver, " | ",
                        absl::StrFormat("%.4g | %.4g", s.first_seconds, s.seconds), " | ",
                        DirectivesText(s.directives), "\n"));
  }
  llvm::sort(lines);
  std::string text =
      Cat(kFirstLine,
          "\n# kernel | target | driver | seconds without a search | seconds | directives\n");
  for (const std::string& line : lines) text += line;
  return text;
}

absl::StatusOr<std::vector<MeasuredSchedule>> ParseScheduleFile(std::string_view text,
                                                                std::string_view name) {
  std::vector<MeasuredSchedule> schedules;
  llvm::StringRef rest = text;
  for (size_t number = 1; number == 1 || !rest.empty(); ++number) {
    const auto fail = [&](const std::string& what) {
      return InvalidArgument(name, ":", number, ": ", what);
    };
    llvm::StringRef line;
    std::tie(line, rest) = rest.split('\n');
    line.consume_back("\r");
    if (number == 1) {
      if (line != kFirstLine)
        return fail(Cat("a file of schedules begins with ", Quote(kFirstLine)));
      continue;
    }
    if (line.empty() || line.front() == '#') continue;
    absl::StatusOr<MeasuredSchedule> schedule = ParseLine(line);
    if (!schedule.ok()) return fail(std::string(schedule.status().message()));
    schedules.push_back(*std::move(schedule));
  }
  return schedules;
}

std::vector<MeasuredSchedule> MergeSchedules(std::vector<MeasuredSchedule> schedules) {
  std::stable_sort(schedules.begin(), schedules.end(), [](const auto& a, const auto& b) {
    return Identity(a) != Identity(b) ? Identity(a) < Identity(b) : Share(a) < Share(b);
  });
  const auto last =
      std::unique(schedules.begin(), schedules.end(),
                  [](const auto& a, const auto& b) { return Identity(a) == Identity(b); });
  schedules.erase(last, schedules.end());
  return schedules;
}

KnownSchedules::KnownSchedules(std::vector<MeasuredSchedule> schedules, std::string_view target,
                               std::string_view driver) {
  // The first of a key is kept: of several drivers, the one that gained most.
  std::stable_sort(schedules.begin(), schedules.end(),
                   [](const auto& a, const auto& b) { return Share(a) < Share(b); });
  for (MeasuredSchedule& s : schedules) {
    const bool fits = driver.empty() || s.driver == driver || s.driver == kAnyDriver;
    if (s.target != target || !fits) continue;
    by_key_.try_emplace(std::move(s.key), std::move(s.directives));
  }
}

const std::vector<Directive>* KnownSchedules::Find(const std::string& key) const {
  const auto known = by_key_.find(key);
  return known == by_key_.end() ? nullptr : &known->second;
}

}  // namespace tg::schedule
