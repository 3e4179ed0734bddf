#include "ir/op.h"

#include <array>
#include <climits>

namespace tg {
namespace {

constexpr std::string_view kKindNames[] = {"int",   "bool",   "str",     "op",     "sym",
                                           "value", "values", "ints",    "bools",  "dims",
                                           "pairs", "views",  "special", "targets"};
constexpr std::string_view kRuleNames[] = {"same0", "all", "cmp", "where", "void", "explicit"};

// A mistake in ops.def stops the compiler here: a throw is not a constant expression.
template <size_t N>
constexpr int Find(const std::string_view (&names)[N], std::string_view s) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == s) return static_cast<int>(i);
  }
  __builtin_unreachable();
}

constexpr int Number(std::string_view s) {
  int v = 0;
  for (char c : s) v = v * 10 + (c - '0');
  return v;
}

constexpr void ParseSources(OpInfo& info) {
  const std::string_view s = info.sources;
  if (s.back() == '+') {
    info.min_sources = Number(s.substr(0, s.size() - 1));
    info.max_sources = INT_MAX;
  } else if (const size_t dots = s.find(".."); dots != std::string_view::npos) {
    info.min_sources = Number(s.substr(0, dots));
    info.max_sources = Number(s.substr(dots + 2));
  } else {
    info.min_sources = info.max_sources = Number(s);
  }
}

constexpr void ParseFields(OpInfo& info) {
  std::string_view rest = info.attributes;
  while (!rest.empty()) {
    const size_t comma = rest.find(", ");
    const std::string_view one = rest.substr(0, comma);
    const size_t colon = one.find(':');
    std::string_view kind = one.substr(colon + 1);
    AttrField& field = info.fields[info.num_fields++];
    field.name = one.substr(0, colon);
    if (kind.back() == '?') {
      field.optional = true;
      kind.remove_suffix(1);
    }
    field.kind = static_cast<FieldKind>(Find(kKindNames, kind));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 2);
  }
}

constexpr OpInfo Make(OpGroup group, int weight, Op op, std::string_view enum_name,
                      std::string_view mnemonic, std::string_view sources,
                      std::string_view attributes, std::string_view rule, std::string_view classes,
                      std::string_view stages, std::string_view flags, std::string_view doc) {
  OpInfo info;
  info.op = op;
  info.group = group;
  info.weight = weight;
  info.enum_name = enum_name;
  info.mnemonic = mnemonic;
  info.sources = sources;
  info.attributes = attributes;
  info.type_rule_text = rule;
  info.classes = classes;
  info.stages = stages;
  info.flags = flags;
  info.doc = doc;
  info.type_rule = static_cast<TypeRule>(Find(kRuleNames, rule));
  ParseSources(info);
  ParseFields(info);
  return info;
}

constexpr std::string_view kGroupNames[kNumOpGroups] = {
    "leaf",  "arithmetic", "conversion", "identity", "movement", "tensor",
    "order", "memory",     "reduce",     "lanes",    "subgroup"};
constexpr std::string_view kStageNames[] = {"tensor", "kernel", "lowered", "expanded", "linear"};
constexpr std::string_view kSpecials[] = {"grid0", "grid1", "grid2", "local0", "local1", "local2"};

}  // namespace

constexpr OpInfo kOpInfos[kNumOps] = {
#define TG_ROW(group, name, ...) Make(OpGroup::group, 1, Op::name, #name, __VA_ARGS__),
#define TG_ARITHMETIC(name, mnemonic, sources, attributes, rule, classes, stages, flags, weight, \
                      doc)                                                                       \
  Make(OpGroup::kArithmetic, weight, Op::name, #name, mnemonic, sources, attributes, rule,       \
       classes, stages, flags, doc),
#define TG_LEAF(...) TG_ROW(kLeaf, __VA_ARGS__)
#define TG_CONVERSION(...) TG_ROW(kConversion, __VA_ARGS__)
#define TG_IDENTITY(...) TG_ROW(kIdentity, __VA_ARGS__)
#define TG_MOVEMENT(...) TG_ROW(kMovement, __VA_ARGS__)
#define TG_TENSOR(...) TG_ROW(kTensor, __VA_ARGS__)
#define TG_ORDER(...) TG_ROW(kOrder, __VA_ARGS__)
#define TG_MEMORY(...) TG_ROW(kMemory, __VA_ARGS__)
#define TG_REDUCE(...) TG_ROW(kReduce, __VA_ARGS__)
#define TG_LANES(...) TG_ROW(kLanes, __VA_ARGS__)
#define TG_SUBGROUP(...) TG_ROW(kSubgroup, __VA_ARGS__)
#include "ir/ops.def"
#undef TG_ROW
};

namespace op_internal {
constexpr uint16_t BitOf(char flag) {
  switch (flag) {
    case 'c':
      return kCommutativeBit;
    case 'a':
      return kAssociativeBit;
    case 'z':
      return kZeroBit;
    case 'l':
      return kLeafBit;
    case 't':
      return kTokenBit;
    case 'w':
      return kWritesBit;
    case 'r':
      return kReadsBit;
  }
  __builtin_unreachable();  // as in Find
}

constexpr FlagTable MakeFlags() {
  FlagTable table{};
  for (int i = 0; i < kNumOps; ++i) {
    const OpGroup group = table.groups[i] = kOpInfos[i].group;
    for (char c : kOpInfos[i].flags) table.bits[i] |= BitOf(c);
    if (group == OpGroup::kMovement) table.bits[i] |= kMovementBit;
    if (group == OpGroup::kIdentity) table.bits[i] |= kIdentityBit;
    if (group == OpGroup::kArithmetic || group == OpGroup::kConversion ||
        group == OpGroup::kIdentity) {
      table.bits[i] |= kElementwiseBit;
    }
    if (kOpInfos[i].num_fields > 0) table.bits[i] |= kAttrBit;
    if (kOpInfos[i].inline_attr()) table.bits[i] |= kInlineAttrBit;
    for (const AttrField& f : kOpInfos[i].fields) {
      const bool strings =
          f.kind == FieldKind::kStr || f.kind == FieldKind::kSym || f.kind == FieldKind::kTargets;
      if (strings) table.bits[i] |= kStringBit;
    }
  }
  return table;
}
constexpr FlagTable kFlagsValue = MakeFlags();
const FlagTable kFlags = kFlagsValue;
}  // namespace op_internal

std::string_view GroupName(OpGroup group) { return kGroupNames[static_cast<int>(group)]; }

std::string_view StageName(Stage s) { return kStageNames[static_cast<int>(s)]; }

std::optional<Stage> StageFromName(std::string_view name) {
  for (int i = 0; i < kNumStages; ++i) {
    if (kStageNames[i] == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

bool OpInfo::LegalIn(Stage s) const {
  return stages.find("TKLXN"[static_cast<int>(s)]) != std::string_view::npos;
}

std::optional<Op> OpFromMnemonic(std::string_view mnemonic) {
  // Perfect hashing is not worth it: a table of first letters leaves few comparisons.
  struct Buckets {
    std::array<uint8_t, 128> first{};
    std::array<uint8_t, kNumOps> next{};
  };
  static constexpr Buckets kBuckets = [] {
    Buckets b;
    for (auto& f : b.first) f = 255;
    for (int i = kNumOps - 1; i >= 0; --i) {
      const std::string_view m = kOpInfos[static_cast<size_t>(i)].mnemonic;
      auto& head = b.first[static_cast<size_t>((m[0] * 5 + m.back() * 3 + m.size()) & 127)];
      b.next[static_cast<size_t>(i)] = head;
      head = static_cast<uint8_t>(i);
    }
    return b;
  }();
  static_assert(kNumOps < 255);
  if (mnemonic.empty()) return std::nullopt;
  const size_t key =
      static_cast<size_t>((mnemonic[0] * 5 + mnemonic.back() * 3 + mnemonic.size()) & 127);
  for (uint8_t i = kBuckets.first[key]; i != 255; i = kBuckets.next[i]) {
    if (kOpInfos[i].mnemonic == mnemonic) return static_cast<Op>(i);
  }
  return std::nullopt;
}

std::string_view SpecialText(SpecialName s) { return kSpecials[static_cast<int>(s)]; }

std::optional<SpecialName> SpecialFromText(std::string_view text) {
  for (int i = 0; i < 6; ++i) {
    if (kSpecials[i] == text) return static_cast<SpecialName>(i);
  }
  return std::nullopt;
}

}  // namespace tg
