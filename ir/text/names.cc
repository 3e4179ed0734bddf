#include "ir/text/names.h"

#include <charconv>
#include <string>
#include <unordered_map>

#include "base/suggest.h"

namespace tg::text {
namespace {
// Enough for a suggestion; with more candidates an invalid file would be slow to refuse.
constexpr size_t kMaxCandidates = 4096;
}  // namespace

Names::Slot& Names::At(std::string_view name) {
  if (name[0] <= '9') {
    size_t number = 0;
    const char* last = name.data() + name.size();
    const auto [end, code] = std::from_chars(name.data(), last, number);
    if (code == std::errc() && end == last && number < max_number_) {
      if (number >= numbered_.size()) numbered_.resize(number + 1 + numbered_.size() / 2);
      return numbered_[number];
    }
  }
  const StringId id = ctx_.Intern(name);
  if (id >= named_.size()) named_.resize(id + 1 + named_.size() / 2);
  return named_[id];
}

const UOp* Names::Use(std::string_view use, Location loc, std::string_view definition) {
  const Slot& slot = At(use);
  if (slot.node) {
    // The node is read when its user is made, after the rest of the statement.
    __builtin_prefetch(slot.node);
    return slot.node;
  }
  if (!slot.line) missing_.push_back({use, definition, loc});
  if (!definition.empty()) broken_.push_back({use, definition, loc});
  return nullptr;
}

// "%a -> %b -> %a" if the operands of `use` lead to `definition`, else empty. Records the members
// of the cycle.
std::string Names::Cycle(std::string_view use, std::string_view definition) {
  if (definition.empty()) return {};
  std::unordered_multimap<std::string_view, std::string_view> needs;
  for (const Missing& m : broken_) needs.emplace(m.definition, m.use);
  std::unordered_map<std::string_view, std::string_view> reached_from{{use, definition}};
  std::vector<std::string_view> work{use};
  while (!work.empty()) {
    const std::string_view name = work.back();
    work.pop_back();
    if (name == definition) {
      std::string path = "%" + std::string(name);
      std::string_view at = name;
      // A message shows only the last few members of a long cycle.
      constexpr int kMaxNamed = 8;
      for (int i = 0;; ++i) {
        at = reached_from[at];
        if (i < kMaxNamed) path = "%" + std::string(at) + " -> " + path;
        if (at == definition) return i < kMaxNamed ? path : "... -> " + path;
        in_cycle_.insert(at);
      }
    }
    const auto [first, last] = needs.equal_range(name);
    for (auto it = first; it != last; ++it) {
      if (reached_from.emplace(it->second, name).second) work.push_back(it->second);
    }
  }
  return {};
}

void Names::Finish(Cursor& cursor) {
  for (const Missing& m : missing_) {
    const bool full = cursor.diags().full();  // further errors are only counted
    const std::string use = "'%" + std::string(m.use) + "'";
    const Slot& slot = At(m.use);
    if (slot.line) {
      if (full && in_cycle_.count(m.definition)) continue;
      const std::string cycle = full ? std::string() : Cycle(m.use, m.definition);
      if (!cycle.empty()) {
        // A cycle is reported once, not once per member.
        if (!in_cycle_.insert(m.definition).second) continue;
        cursor.FailAt(m.loc, "cycle: " + cycle + "; a value cannot depend on itself");
      } else {
        cursor.FailAt(m.loc,
                      use + " is used before its definition in line " + std::to_string(slot.line));
      }
      continue;
    }
    std::vector<std::string_view> candidates;
    if (m.use[0] > '9' && !full) {
      for (StringId id = 1; id < named_.size() && candidates.size() < kMaxCandidates; ++id) {
        if (named_[id].line) candidates.push_back(ctx_.String(id));
      }
    }
    cursor.FailAt(m.loc, use + " is not defined" + DidYouMean(m.use, candidates, "%"));
  }
}

}  // namespace tg::text
