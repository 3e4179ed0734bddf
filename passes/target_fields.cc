#include "passes/target_fields.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tg::passes {
namespace {

using enum FieldSource;

constexpr double kAny = 0, kPositive = 1e-30;

constexpr TargetField kFields[] = {
    {"name", "", kName, "in reports, and for caches of the compiler", &Target::name},
    {"doc", "", kName, "a line for people", &Target::doc},
    {"is_gpu", "", kQuery, "work-items run together, and registers hold scalars", &Target::is_gpu},
    {"fp16", "", kQuery, "computes in half; every device stores it", &Target::fp16},
    {"fp64", "", kQuery, "computes in double", &Target::fp64},
    {"int64", "", kQuery, "computes in integers of 64 bits", &Target::int64},
    {"images", "", kQuery, "has images", &Target::images},
    {"own_functions", "", kKnown,
     "functions that are written out, as the device's are too inexact or slower",
     &Target::own_functions},
    {"alu_width", "bytes", kQuery, "of a vector of arithmetic; 0: scalars only",
     &Target::alu_width},
    {"mem_width", "bytes", kQuery, "of the widest load or store", &Target::mem_width, 1},
    {"unaligned_access", "", kKnown, "a wide access need not be aligned to more than its elements",
     &Target::unaligned_access},
    {"fast_fma", "", kKnown, "a * b + c is one instruction", &Target::fast_fma},
    {"byte_dots", "", kQuery, "dot4 is one instruction", &Target::byte_dots},
    {"has_local", "", kQuery, "local memory and barriers work", &Target::has_local},
    {"local_memory", "bytes", kQuery, "of a work-group", &Target::local_memory},
    {"private_memory", "bytes", kKnown, "of a work-item, for staged values and packed copies",
     &Target::private_memory},
    {"max_group_size", "work-items", kQuery, "in a work-group", &Target::max_group_size, 1},
    {"max_groups", "work-groups", kQuery, "along each dimension of the grid", &Target::max_groups,
     1},
    {"max_local", "work-items", kQuery, "along each dimension of a work-group", &Target::max_local,
     1},
    {"subgroup_size", "work-items", kQuery, "that run in lockstep", &Target::subgroup_size, 1},
    {"group_items", "work-items", kFitted, "of a group where there is enough work",
     &Target::group_items, 2},
    {"least_group_items", "work-items", kFitted, "for which a group is worth its barriers",
     &Target::least_group_items, 2},
    {"inline_ptx", "", kKnown, "the compiler takes inline PTX", &Target::inline_ptx},
    {"compute_units", "units", kQuery, "cores or multiprocessors", &Target::compute_units, 1},
    {"items_per_unit", "work-items", kKnown, "that a unit must have to hide their waits",
     &Target::items_per_unit, 1},
    {"vector_registers", "registers", kKnown, "of alu_width bytes; scalars of a work-item on a GPU",
     &Target::vector_registers, 1},
    {"accumulator_registers", "registers", kKnown, "of these, for the accumulators of a loop",
     &Target::accumulator_registers, 1},
    {"tile_registers", "registers", kKnown, "of these, for the accumulators of a register tile",
     &Target::tile_registers, 1},
    {"cache_line", "bytes", kQuery, "that move together", &Target::cache_line, 1},
    {"page_bytes", "bytes", kKnown, "of the smallest page, at whose end prefetchers stop",
     &Target::page_bytes, 1},
    {"near_cache_bytes", "bytes", kMeasured, "of a core's L1 data cache; 0 on a GPU",
     &Target::near_cache_bytes},
    {"near_cache_ways", "lines", kKnown, "of the L1 cache in which an address may be",
     &Target::near_cache_ways, 1},
    {"near_miss_cycles", "cycles", kKnown, "of a hit in the L2 cache beyond one in the L1",
     &Target::near_miss_cycles},
    {"core_cache_bytes", "bytes", kMeasured, "the L2 cache of a core; the L1 cache on a GPU",
     &Target::core_cache_bytes, 1},
    {"shared_cache_bytes", "bytes", kMeasured, "the last cache before memory",
     &Target::shared_cache_bytes, 1},
    {"cache_bytes", "bytes", kKnown, "of the last cache that schedules may count on",
     &Target::cache_bytes, 1},
    {"cache_slack", "of its size", kFitted, "data of more than this leave a cache entirely",
     &Target::cache_slack, 1.01},
    {"miss_bytes", "bytes", kKnown, "that a core reads in the time of one unforeseen line",
     &Target::miss_bytes, 1},
    {"prefetch_streams", "streams", kKnown, "in different pages, that a core's prefetcher follows",
     &Target::prefetch_streams, 1},
    {"copied_bytes", "bytes", kKnown, "read in a row in the time of one distant element",
     &Target::copied_bytes, 1},
    {"flops_per_second", "operations/s", kMeasured, "of f32 on all units, two for a multiply-add",
     &Target::flops_per_second, kPositive},
    {"f16_rate", "of f32's", kMeasured, "rate of multiply-adds of halves", &Target::f16_rate,
     kPositive},
    {"f64_rate", "of f32's", kMeasured, "rate of multiply-adds of doubles", &Target::f64_rate,
     kPositive},
    {"int_rate", "of f32's", kMeasured, "rate of multiply-adds of integers", &Target::int_rate,
     kPositive},
    {"dot4_rate", "of f32's", kKnown, "rate of dot4; 0: products of bytes are made of others",
     &Target::dot4_rate},
    {"fma_per_cycle", "instructions", kKnown, "multiply-adds that begin in a cycle",
     &Target::fma_per_cycle, 1},
    {"fma_accumulators", "vectors", kKnown, "to which products are added by turns at full rate",
     &Target::fma_accumulators, 1},
    {"matrix_flops_per_second", "operations/s", kMeasured,
     "of matrix instructions on halves, on all units; 0: none; of bytes twice as many",
     &Target::matrix_flops_per_second},
    {"load_weight", "multiply-adds", kMeasured, "that could begin in the time of a load",
     &Target::load_weight},
    {"store_weight", "multiply-adds", kMeasured, "that could begin in the time of a store",
     &Target::store_weight},
    {"lane_instructions", "instructions", kKnown, "of a lane that is accessed alone",
     &Target::lane_instructions},
    {"step_instructions", "instructions", kFitted,
     "of an iteration of a loop over terms, without these", &Target::step_instructions},
    {"unaligned_weight", "accesses", kFitted, "that are aligned, in the time of one that is not",
     &Target::unaligned_weight, 1},
    {"gate_weight", "additions", kFitted, "in the time of a load with a gate",
     &Target::gate_weight},
    {"not_hidden", "of the time", kFitted,
     "of computing or of reading, the shorter, that the longer does not hide", &Target::not_hidden},
    {"cached_rate", "of f32's", kFitted, "rate of a GPU's register tiles that read from caches",
     &Target::cached_rate, kPositive},
    {"fill_seconds", "s", kFitted, "in which a GPU's group alone waits for a block of terms",
     &Target::fill_seconds},
    {"core_cache_bytes_per_second", "bytes/s", kMeasured, "one unit reads from its core cache",
     &Target::core_cache_bytes_per_second, kPositive},
    {"shared_cache_bytes_per_second", "bytes/s", kMeasured, "one unit reads from the shared cache",
     &Target::shared_cache_bytes_per_second, kPositive},
    {"load_seconds", "s", kKnown, "from a load from memory to its value", &Target::load_seconds},
    {"local_bytes_per_second", "bytes/s", kKnown, "one unit reads from local memory",
     &Target::local_bytes_per_second, kPositive},
    {"unit_local_memory", "bytes", kKnown, "that the work-groups of a unit share",
     &Target::unit_local_memory, 1},
    {"unit_registers", "registers", kKnown, "of 32 bits that the work-items of a unit share",
     &Target::unit_registers, 1},
    {"max_unit_items", "work-items", kKnown, "that a unit holds at a time", &Target::max_unit_items,
     1},
    {"sector_bytes", "bytes", kKnown, "of a line, that a unit fetches alone; 0: whole lines",
     &Target::sector_bytes},
    {"kernel_seconds", "s", kMeasured, "of a kernel that does nothing, on a GPU's clock",
     &Target::kernel_seconds},
    {"step_seconds", "s", kFitted, "of a step of a loop whose loads nothing hides",
     &Target::step_seconds},
    {"overlapped_instructions", "instructions", kFitted,
     "of steps of a loop that a device's compiler lets wait together",
     &Target::overlapped_instructions, 1},
    {"barrier_seconds", "s", kFitted, "in which a group combines what its work-items have",
     &Target::barrier_seconds},
    {"not_overlapped", "of the time", kFitted, "of a cost's shorter terms, that delays the longest",
     &Target::not_overlapped},
    {"prediction_error", "of the time", kFitted,
     "by which predicted costs of a kernel's schedules are off, in the middle",
     &Target::prediction_error},
    {"unit_bytes_per_second", "bytes/s", kMeasured, "one unit reads from memory",
     &Target::unit_bytes_per_second, kPositive},
    {"bytes_per_second", "bytes/s", kMeasured, "all units read from memory",
     &Target::bytes_per_second, kPositive},
    {"write_traffic", "lines", kMeasured, "moved for each line written; 2: it is read first",
     &Target::write_traffic, 1},
    {"launch_seconds", "s", kMeasured, "of a kernel launch", &Target::launch_seconds},
    {"group_seconds", "s", kMeasured, "of a work-group on its unit", &Target::group_seconds},
    {"groups_per_unit", "work-groups", kKnown, "among which work is divided, for each unit",
     &Target::groups_per_unit, 1},
    {"least_groups", "work-groups", kFitted, "of a core, so that cores finish together",
     &Target::least_groups, 1},
    {"most_groups", "work-groups", kFitted, "of a core; with more, each gets several results",
     &Target::most_groups, 1},
    {"small_grid", "work-items", kFitted, "with fewer, a kernel is too small to fill a GPU",
     &Target::small_grid, 2},
    {"least_steps", "iterations", kFitted, "of a loop for each work-item that shares it",
     &Target::least_steps, 1},
    {"tile_side", "results", kFitted, "rows, or columns, that a work-item computes together",
     &Target::tile_side, 1},
    {"short_terms", "terms", kFitted, "of a reduce that is rather written out or repeated",
     &Target::short_terms, 1},
    {"window", "iterations", kFitted, "of a loop that is written out for constant predicates",
     &Target::window, 1},
    {"padding", "of an axis", kFitted, "what padding may add", &Target::padding},
    {"inlined_instructions", "instructions", kKnown,
     "limit on the copies of a function outside hot loops; 0: none", &Target::inlined_instructions},
    {"unrolled_instructions", "instructions", kKnown, "limit on an unrolled loop; 0: none",
     &Target::unrolled_instructions},
};

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
  std::string operator()(std::bitset<kNumOps> Target::*m) const {
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
  absl::Status operator()(std::bitset<kNumOps> Target::*m) const {
    const auto items = ListItems(text);
    if (!items.ok()) return items.status();
    std::bitset<kNumOps> set;
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

std::span<const TargetField> TargetFields() { return kFields; }

std::string PrintTarget(const Target& target) {
  std::string text;
  for (const TargetField& field : kFields) {
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
  std::bitset<std::size(kFields)> given;
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
      if (has_base || given.any()) return error("'base' comes once, before all fields");
      has_base = true;
      const absl::StatusOr<Target> base = FindTarget(value);
      if (!base.ok()) return error(std::string(base.status().message()));
      target = *base;
      target.name = file;
      continue;
    }
    size_t i = 0;
    while (i < std::size(kFields) && key != llvm::StringRef(kFields[i].name)) ++i;
    if (i == std::size(kFields)) return error(absl::StrCat("no field '", key.str(), "'"));
    if (given[i]) return error(absl::StrCat("'", key.str(), "' is given twice"));
    given.set(i);
    if (absl::Status s = kFields[i].Set(value, target); !s.ok()) {
      return error(absl::StrCat(key.str(), ": ", std::string(s.message())));
    }
  }
  return target;
}

}  // namespace tg::passes
