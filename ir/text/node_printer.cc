// NodePrinter: the names of a body's nodes, and a node as a statement.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/attr.h"
#include "ir/shape.h"
#include "ir/text/constant.h"
#include "ir/text/printer.h"

namespace tg {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool InName(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '.'; }

bool IsValidName(std::string_view name) {
  if (name.empty() || !IsLetter(name[0])) return false;
  for (char c : name) {
    if (!InName(c)) return false;
  }
  return true;
}

// Caches the last few types as text, since neighbouring nodes tend to have the same type.
std::string_view TypeText(const DType& t) {
  struct Entry {
    DType type;
    std::string text = "void";
  };
  thread_local Entry cache[64];
  Entry& entry = cache[(t.Hash() >> 32) % 64];
  if (entry.type != t) entry = {t, t.ToString()};
  return entry.text;
}

bool IsPositional(FieldKind kind) {
  return kind == FieldKind::kSym || kind == FieldKind::kValue || kind == FieldKind::kTargets;
}

}  // namespace

// Chooses a valid and unique spelling for each node's name.
class NodePrinter::NameChooser {
 public:
  explicit NameChooser(const Body& body) : body_(body) {}

  // Returns the name unchanged if it is valid and unused, else an empty string.
  std::string_view Plain(StringId id) {
    if (id >= taken_.size()) taken_.resize(id + 1 + taken_.size() / 2);
    const std::string_view text = body_.context->String(id);
    if (taken_[id] || !IsValidName(text)) return {};
    taken_[id] = true;
    return text;
  }
  // A name similar to `id`'s for a node that cannot have that one. All unchanged names must be
  // known.
  std::string Other(StringId id, const std::vector<std::string_view>& plain) {
    if (used_.empty()) {
      for (std::string_view p : plain) used_.emplace(p);
    }
    std::string base(body_.context->String(id));
    for (char& c : base) {
      if (!InName(c)) c = '_';
    }
    if (!IsLetter(base[0])) base = "_" + base;
    std::string name = base;
    // The search for a free suffix continues where the last one for this base ended.
    size_t& n = next_suffix_[base];
    if (n) name = base + "." + std::to_string(n);
    while (!used_.insert(name).second) name = base + "." + std::to_string(++n);
    return name;
  }

 private:
  const Body& body_;
  std::vector<bool> taken_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, size_t> next_suffix_;
};

NodePrinter::NodePrinter(const Body& body) : body_(body) {
  NodeSet seen;
  labels_.Reserve(body.context->num_nodes());
  if (!body.linear.empty()) {
    // The list should hold all nodes; a source that it lacks would have no line, so such sources
    // are printed first.
    AppendPostOrder(body.linear, seen, order_);
    if (order_.size() == body.linear.size()) order_ = body.linear;
  } else if (body.root) {
    AppendPostOrder(UOpSpan(&body.root, 1), seen, order_);
  }
  // A node without a value needs a name only if it has a user. In most graphs that concerns the
  // sink alone.
  NodeSet used;
  const auto is_void = [](const UOp* u) { return u->dtype.is_void() && u->op != Op::kSink; };
  if (std::any_of(order_.begin(), order_.end(), is_void)) {
    for (const UOp* u : order_) {
      for (const UOp* s : u->srcs()) {
        if (s->dtype.is_void()) used.Insert(s);
      }
    }
  }
  NameChooser chooser(body);
  std::vector<const UOp*> clashing;
  uint32_t next = 1;
  for (const UOp* u : order_) {
    const StringId id = body.side.name(u);
    if (id == 0) {
      labels_[u] = u->dtype.is_void() && !used.Contains(u) ? kNoName : next++;
      continue;
    }
    const std::string_view plain = chooser.Plain(id);
    if (plain.empty()) {
      clashing.push_back(u);
      continue;
    }
    labels_[u] = kFirstName + static_cast<uint32_t>(names_.size());
    names_.push_back(plain);
  }
  made_up_.reserve(clashing.size());
  const std::vector<std::string_view> plain = clashing.empty() ? decltype(names_)() : names_;
  for (const UOp* u : clashing) {
    made_up_.push_back(chooser.Other(body.side.name(u), plain));
    labels_[u] = kFirstName + static_cast<uint32_t>(names_.size());
    names_.push_back(made_up_.back());
  }
}

void NodePrinter::AppendName(std::string& out, const UOp* u) const {
  out += '%';
  const uint32_t label = labels_.Get(u);
  if (label == 0 && body_.side.name(u) != 0) {
    out += body_.context->String(body_.side.name(u));
  } else if (label == 0 || label == kNoName) {
    out += '?';
  } else if (label >= kFirstName) {
    out += names_[label - kFirstName];
  } else {
    AppendInt(out, label - 1);
  }
}

std::string NodePrinter::Name(const UOp* u) const {
  std::string out;
  AppendName(out, u);
  return out;
}

std::string NodePrinter::ToString(const UOp* u) const {
  std::string out;
  Append(out, u);
  return out;
}

void NodePrinter::AppendFields(std::string& out, const UOp* u) const {
  const OpInfo& info = GetOpInfo(u->op);
  const Context& ctx = *body_.context;
  std::string_view separator = " {";
  size_t symbolic = NumOperands(u);
  const auto list = [&](auto words, size_t step, auto item) {
    out += '[';
    for (size_t i = 1; i < words.size(); i += step) {
      if (i > 1) out += ", ";
      item(words.subspan(i, step));
    }
    out += ']';
  };
  const auto dim = [&](int64_t word) {
    if (word != kSymbolic) return AppendInt(out, word);
    if (symbolic < u->num_srcs) {
      AppendName(out, u->src(symbolic++));
    } else {
      out += "%?";
    }
  };
  const auto boolean = [&](int64_t word) { out += word ? "true" : "false"; };
  ForEachField(info, u->words(), [&](const AttrField& field, auto words) {
    // words[0] of a list is its length.
    if (IsPositional(field.kind) || (field.optional && words[0] == 0)) return;
    out += separator;
    separator = ", ";
    out += field.name;
    out += " = ";
    switch (field.kind) {
      case FieldKind::kInt:
        AppendInt(out, words[0]);
        break;
      case FieldKind::kBool:
        boolean(words[0]);
        break;
      case FieldKind::kStr:
        AppendQuoted(out, ctx.String(static_cast<StringId>(words[0])));
        break;
      case FieldKind::kOp:
        out += Mnemonic(static_cast<Op>(words[0]));
        break;
      case FieldKind::kSpecial:
        out += SpecialText(static_cast<SpecialName>(words[0]));
        break;
      case FieldKind::kValues:
        list(words, 1, [&](auto w) { AppendConstant(out, u->dtype.scalar(), w[0]); });
        break;
      case FieldKind::kInts:
        list(words, 1, [&](auto w) { AppendInt(out, w[0]); });
        break;
      case FieldKind::kBools:
        list(words, 1, [&](auto w) { boolean(w[0]); });
        break;
      case FieldKind::kDims:
        list(words, 1, [&](auto w) { dim(w[0]); });
        break;
      case FieldKind::kPairs:
        list(words, 2, [&](auto w) {
          out += '(';
          dim(w[0]);
          out += ", ";
          dim(w[1]);
          out += ')';
        });
        break;
      case FieldKind::kViews: {
        const auto pairs = [&](size_t at, size_t rank) {
          for (size_t i = 0; i < rank; ++i) {
            out += i ? ", (" : "(";
            dim(words[at + 2 * i]);
            out += ", ";
            dim(words[at + 2 * i + 1]);
            out += ')';
          }
        };
        const auto numbers = [&](size_t at, size_t rank) {
          for (size_t i = 0; i < rank; ++i) {
            if (i) out += ", ";
            dim(words[at + i]);
          }
        };
        out += '[';
        for (size_t at = 1; at < words.size();) {
          const auto rank = static_cast<size_t>(words[at]);
          out += at > 1 ? ", view(shape = [" : "view(shape = [";
          numbers(at + 1, rank);
          out += "], strides = [";
          numbers(at + 1 + rank, rank);
          out += "], offset = ";
          dim(words[at + 1 + 2 * rank]);
          at += 2 * rank + 2;
          if (words[at++]) {
            out += ", mask = [";
            pairs(at, rank);
            out += ']';
            at += 2 * rank;
          }
          out += ')';
        }
        out += ']';
        break;
      }
      case FieldKind::kSym:
      case FieldKind::kValue:
      case FieldKind::kTargets:
        break;
    }
  });
  if (separator == ", ") out += '}';
}

void NodePrinter::Append(std::string& out, const UOp* u) const {
  const OpInfo& info = GetOpInfo(u->op);
  const Context& ctx = *body_.context;
  if (labels_.Get(u) != kNoName) {
    AppendName(out, u);
    out += " = ";
  }
  out += info.mnemonic;
  const FieldKind first = info.num_fields ? info.fields[0].kind : FieldKind::kInt;
  const bool symbol = first == FieldKind::kSym;
  if (symbol) {
    out += " @";
    out += ctx.String(static_cast<StringId>(u->word(0)));
  } else if (first == FieldKind::kValue) {
    out += ' ';
    AppendConstant(out, u->dtype.scalar(), u->word(0));
  }
  const bool targets = u->op == Op::kSink && u->word(0) != 0;
  const size_t operands = info.num_fields ? NumOperands(u) : u->num_srcs;
  for (size_t i = 0; i < operands; ++i) {
    out += i ? ", " : symbol ? "(" : " ";
    AppendName(out, u->src(i));
    if (targets && u->word(1 + i)) {
      out += " -> @";
      out += ctx.String(static_cast<StringId>(u->word(1 + i)));
    }
  }
  if (symbol && operands) out += ')';
  if (info.num_fields) AppendFields(out, u);
  const bool implied = info.type_rule == TypeRule::kVoid || u->op == Op::kNoop;
  if (implied && u->dtype.is_void()) return;
  out += " : ";
  out += TypeText(u->dtype);
}

std::string PrintNode(const Body& body, const UOp* u) { return NodePrinter(body).ToString(u); }

}  // namespace tg
