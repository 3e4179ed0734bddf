#include "passes/target_fields.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tg::passes {
namespace {

// The least value of a number that must not be 0.
constexpr double kPositive = 1e-30;

std::vector<TargetField> MakeFields() {
  std::vector<TargetField> fields;
  std::string_view part;
#define TG_TARGET_PART(title) part = title;
#define TG_TARGET_FIELD(type, name, unit, source, least, doc, ...) \
  fields.push_back({part, #name, unit, FieldSource::k##source, doc, &Target::name, least});
#include "passes/target.def"
  return fields;
}

absl::Status Invalid(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

template <typename T>
std::string NumberText(T value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

template <typename T>
absl::Status SetNumber(llvm::StringRef text, double least, T& value) {
  T number = {};
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error == std::errc::result_out_of_range) return Invalid(text.str() + " is out of range");
  if (error != std::errc() || end != text.end() || text.empty() ||
      !std::isfinite(static_cast<double>(number))) {
    const bool whole = std::is_integral_v<T>;
    return Invalid(absl::StrCat("'", text.str(), "' is not ", whole ? "an integer" : "a number"));
  }
  if (static_cast<double>(number) < least) {
    return Invalid(absl::StrCat(text.str(),
                                least == kPositive ? " is not above 0" : " is less than ",
                                least == kPositive ? "" : NumberText(least)));
  }
  value = number;
  return absl::OkStatus();
}

absl::StatusOr<llvm::SmallVector<llvm::StringRef, 8>> ListItems(llvm::StringRef text) {
  if (!text.consume_front("[") || !text.consume_back("]")) {
    return Invalid(absl::StrCat("'", text.str(), "' is no list in brackets"));
  }
  llvm::SmallVector<llvm::StringRef, 8> items;
  if (text.trim().empty()) return items;
  text.split(items, ',');
  for (llvm::StringRef& item : items) item = item.trim();
  return items;
}

// Visitor of TargetField::Member: the text of that member of `target`.
struct Printer {
  const Target& target;
  std::string operator()(std::string Target::*m) const { return target.*m; }
  std::string operator()(bool Target::*m) const { return target.*m ? "true" : "false"; }
  std::string operator()(int Target::*m) const { return NumberText(target.*m); }
  std::string operator()(int64_t Target::*m) const { return NumberText(target.*m); }
  std::string operator()(double Target::*m) const { return NumberText(target.*m); }
  template <typename T>
  std::string operator()(T (Target::*m)[3]) const {
    const T* v = target.*m;
    return absl::StrCat("[", v[0], ", ", v[1], ", ", v[2], "]");
  }
  std::string operator()(FunctionSet Target::*m) const {
    std::string list;
    for (const Op op : kMathFunctions) {
      if (!(target.*m)[static_cast<size_t>(op)]) continue;
      absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(GetOpInfo(op).mnemonic));
    }
    return "[" + list + "]";
  }
};

struct Setter {
  llvm::StringRef text;
  double least;
  Target& target;

  absl::Status operator()(std::string Target::*m) const {
    if (text.empty()) return Invalid("the text is empty");
    target.*m = text.str();
    return absl::OkStatus();
  }
  absl::Status operator()(bool Target::*m) const {
    if (text != "true" && text != "false") {
      return Invalid(absl::StrCat("'", text.str(), "' is neither true nor false"));
    }
    target.*m = text == "true";
    return absl::OkStatus();
  }
  absl::Status operator()(int Target::*m) const { return SetNumber(text, least, target.*m); }
  absl::Status operator()(int64_t Target::*m) const { return SetNumber(text, least, target.*m); }
  absl::Status operator()(double Target::*m) const { return SetNumber(text, least, target.*m); }
  template <typename T>
  absl::Status operator()(T (Target::*m)[3]) const {
    const auto items = ListItems(text);
    if (!items.ok()) return items.status();
    if (items->size() != 3) return Invalid(absl::StrCat(items->size(), " numbers, not 3"));
    for (size_t i = 0; i < 3; ++i) {
      if (absl::Status s = SetNumber((*items)[i], least, (target.*m)[i]); !s.ok()) return s;
    }
    return absl::OkStatus();
  }
  absl::Status operator()(FunctionSet Target::*m) const {
    const auto items = ListItems(text);
    if (!items.ok()) return items.status();
    FunctionSet set;
    for (const llvm::StringRef item : *items) {
      bool found = false;
      for (const Op op : kMathFunctions) {
        if (item != llvm::StringRef(GetOpInfo(op).mnemonic)) continue;
        set.set(static_cast<size_t>(op));
        found = true;
      }
      if (!found) return Invalid(absl::StrCat("'", item.str(), "' is no function"));
    }
    target.*m = set;
    return absl::OkStatus();
  }
};

}  // namespace

std::string_view FieldSourceName(FieldSource source) {
  using enum FieldSource;
  switch (source) {
    case kName:
      return "chosen";
    case kQuery:
      return "the device";
    case kMeasured:
      return "tg-calibrate";
    case kKnown:
      return "datasheet";
    case kFitted:
      return "fitted";
  }
  return "";
}

std::string TargetField::Text(const Target& target) const {
  return std::visit(Printer{target}, member);
}

absl::Status TargetField::Set(std::string_view text, Target& target) const {
  return std::visit(Setter{llvm::StringRef(text).trim(), least, target}, member);
}

std::span<const TargetField> TargetFields() {
  static const std::vector<TargetField>& fields = *new std::vector<TargetField>(MakeFields());
  return fields;
}

std::string PrintTarget(const Target& target) {
  std::string text;
  std::string_view part;
  for (const TargetField& field : TargetFields()) {
    if (field.part != part) {
      absl::StrAppend(&text, part.empty() ? "" : "\n", "# ", std::string(field.part), "\n");
      part = field.part;
    }
    const std::string line = absl::StrCat(std::string(field.name), " = ", field.Text(target));
    const std::string unit = field.unit.empty() ? "" : std::string(field.unit) + ", ";
    const bool is_text = std::holds_alternative<std::string Target::*>(field.member);
    absl::StrAppend(&text, line);
    if (!is_text) {
      constexpr size_t kColumn = 44;
      absl::StrAppend(&text, std::string(line.size() < kColumn ? kColumn - line.size() : 1, ' '),
                      "# ", unit, std::string(field.doc));
    }
    text += "\n";
  }
  return text;
}

absl::StatusOr<Target> ParseTarget(std::string_view text, std::string_view file) {
  Target target = TargetPresets()[0];
  target.name = file;
  const std::span<const TargetField> fields = TargetFields();
  std::vector<bool> given(fields.size());
  bool has_base = false;
  int number = 0;
  llvm::StringRef rest(text);
  while (!rest.empty()) {
    auto [line, behind] = rest.split('\n');
    rest = behind;
    ++number;
    const auto error = [&](const std::string& message) {
      return Invalid(absl::StrCat(std::string(file), ":", number, ": ", message));
    };
    const llvm::StringRef whole = line.trim();
    line = line.split('#').first.trim();
    if (line.empty()) continue;
    if (!line.contains('=')) return error("no 'key = value'");
    const llvm::StringRef key = line.split('=').first.trim();
    const bool is_text = key == "name" || key == "doc";  // which may contain a `#`
    const llvm::StringRef value = (is_text ? whole : line).split('=').second.trim();
    if (key == "base") {
      if (has_base || llvm::is_contained(given, true))
        return error("'base' comes once, before all fields");
      has_base = true;
      const absl::StatusOr<Target> base = FindTarget(value);
      if (!base.ok()) return error(std::string(base.status().message()));
      target = *base;
      target.name = file;
      continue;
    }
    size_t i = 0;
    while (i < fields.size() && key != llvm::StringRef(fields[i].name)) ++i;
    if (i == fields.size()) return error(absl::StrCat("no field '", key.str(), "'"));
    if (given[i]) return error(absl::StrCat("'", key.str(), "' is given twice"));
    given[i] = true;
    if (absl::Status s = fields[i].Set(value, target); !s.ok()) {
      return error(absl::StrCat(key.str(), ": ", std::string(s.message())));
    }
  }
  return target;
}

}  // namespace tg::passes
