#include "frontend/tinygrad/reader.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/scan.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::tinygrad {
namespace {

constexpr uint32_t kNoName = UINT32_MAX;

class Reader {
 public:
  Reader(std::string_view text, Diagnostics& diags)
      : diags_(diags),
        at_(text.data()),
        end_(at_ + text.size()),
        line_start_(at_),
        result_(std::make_unique<Text>(text)) {}

  std::unique_ptr<Text> Read() {
    while (!failed_) {
      SkipBlanks();
      if (at_ == end_) break;
      if (frames_.empty()) {
        if (*at_ == '#') {
          Comment();
          continue;
        }
        if (*at_ == ',') {  // a tuple printed without its parentheses
          ++at_;
          continue;
        }
      }
      Step();
      last_ = Here(at_);
    }
    if (!failed_ && !frames_.empty()) Torn();
    if (!failed_ && pending_name_ != kNoName) Fail(at_, "the text ends after ':='");
    if (!failed_ && result_->roots.empty()) Fail(at_, "there is no UOp in this text");
    return failed_ ? nullptr : std::move(result_);
  }

 private:
  // A bracket that is not closed yet.
  struct Frame {
    Kind kind = Kind::kTuple;
    char close = ')';
    bool is_uop = false;
    bool is_src = false;       // the tuple of a UOp's sources
    bool opens_scope = false;  // names are local to it
    const char* at = nullptr;  // start of the value
    uint32_t callee_size = 0;
    uint32_t name = kNoName;  // x1:=
    size_t base = 0;          // index in items_ of its first item
    std::string_view key;     // the key that it has in the enclosing frame
    Location loc;
  };
  using Scope = llvm::DenseMap<uint32_t, const Node*>;

  Location Here(const char* at) const {
    return {line_, static_cast<uint32_t>(at - line_start_) + 1};
  }
  // `at` must be on the current line.
  void Fail(const char* at, std::string message) {
    if (!failed_) diags_.Error(Here(at), std::move(message));
    failed_ = true;
  }
  void Torn() {
    const Frame& f = frames_.back();
    failed_ = true;
    diags_.Error(last_, "the text ends here, but '" + std::string(f.at, f.callee_size) +
                            (f.close == ')'   ? "("
                             : f.close == ']' ? "["
                                              : "{") +
                            "' of line " + std::to_string(f.loc.line) + ", column " +
                            std::to_string(f.loc.column) + " is still open");
  }

  // Half of a deep graph's text is indentation, so this is fast.
  void SkipBlanks() {
    for (; at_ != end_; ++at_) {
      if (*at_ == '\n') {
        ++line_;
        line_start_ = at_ + 1;
        uint64_t word;
        while (end_ - at_ > 8 && (std::memcpy(&word, at_ + 1, 8), word == 0x2020202020202020)) {
          at_ += 8;
        }
      } else if (*at_ != ' ' && *at_ != '\r' && *at_ != '\t') {
        return;
      }
    }
  }

  void Comment() {
    const char* start = ++at_;
    while (at_ != end_ && *at_ != '\n') ++at_;
    result_->comments.push_back(
        {std::string_view(start, static_cast<size_t>(at_ - start)), Here(start)});
  }

  // Reads one token, or a few that form a unit.
  void Step() {
    const char c = *at_;
    if (!frames_.empty() && c == frames_.back().close) return Close();
    if (after_value_) {
      if (c == ',' || (c == ':' && frames_.back().close == '}')) {
        ++at_;
        after_value_ = false;
        return;
      }
      return Fail(
          at_, "expected ',' or '" + std::string(1, frames_.back().close) + "', found " + Found());
    }
    if (IsWordStart(c)) return Word();
    if (IsDigit(c) || c == '-' || c == '.') return Scan(&ScanNumber);
    if (c == '\'' || c == '"') return Scan(&ScanString);
    if (c == '(' || c == '[' || c == '{') {
      Frame f;
      f.close = c == '(' ? ')' : c == '[' ? ']' : '}';
      f.at = at_;
      ++at_;
      return Open(std::move(f));
    }
    if (c == '<') return Scan(&ScanOpaque);
    Fail(at_, "expected a value, found " + Found());
  }

  std::string Found() const {
    const unsigned char c = static_cast<unsigned char>(*at_);
    if (c >= ' ' && c < 0x7f) return "'" + std::string(1, *at_) + "'";
    return "byte " + std::to_string(c);
  }

  void Scan(ScanFunction* scan) {
    Value v;
    const char* start = at_;
    if (const std::string error = scan(&at_, end_, &v); !error.empty()) return Fail(start, error);
    Push(v);
  }

  void Word() {
    const char* start = at_;
    while (at_ != end_ && (IsWord(*at_) || (*at_ == '.' && at_ + 1 != end_ && IsWord(at_[1])))) {
      ++at_;
    }
    const std::string_view word(start, static_cast<size_t>(at_ - start));
    const char next = at_ != end_ ? *at_ : '\0';
    if (next == '(') return OpenCall(start, word);
    if (word[0] == 'x' && word.size() > 1 && IsDigit(word[1])) return NodeName(start, word, next);
    if (next == '=' && !frames_.empty() && key_.empty()) {
      key_ = word;
      ++at_;
      return;
    }
    // The argument of a PROGRAM contains target=CL:renderer:arch,features, which is read up to its
    // end.
    if ((next == ':' || next == '+') && key_ == "target") return Target(start);
    if ((next == '\'' || next == '"') && word.size() <= 2) {  // b'...'
      at_ = start;
      return Scan(&ScanString);
    }
    Value v;
    v.at = start;
    v.size = static_cast<uint32_t>(word.size());
    v.kind = Kind::kName;
    if (word == "None") {
      v.kind = Kind::kNone;
    } else if (word == "True" || word == "False") {
      v.kind = Kind::kBool;
      v.number = word == "True";
    } else if (word == "inf" || word == "nan") {
      v.kind = Kind::kFloat;
      v.real = word == "inf" ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    Push(v);
  }

  void Target(const char* start) {
    while (at_ != end_ && *at_ != ')' && *at_ != '\n') ++at_;
    Value v;
    v.kind = Kind::kOpaque;
    v.at = start;
    v.size = static_cast<uint32_t>(at_ - start);
    Push(v);
  }

  // x12, or x12:= before a UOp.
  void NodeName(const char* start, std::string_view word, char next) {
    uint32_t number = 0;
    const auto [rest, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
    if (error != std::errc() || rest != word.data() + word.size() || number >= kNoName - 1) {
      return Fail(start, "'" + std::string(word) + "' is no name of a node");
    }
    if (next == ':' && end_ - at_ >= 2 && at_[1] == '=') {
      if (pending_name_ != kNoName) return Fail(start, "a node has one name");
      at_ += 2;
      pending_name_ = number;
      return;
    }
    const Node* node = scopes_.empty() ? nullptr : scopes_.back().lookup(number);
    if (!node) return Fail(start, "x" + std::to_string(number) + " is not defined above");
    Value v;
    v.kind = Kind::kUOp;
    v.at = start;
    v.size = static_cast<uint32_t>(word.size());
    v.node = node;
    Push(v);
  }

  void OpenCall(const char* start, std::string_view callee) {
    Frame f;
    f.kind = Kind::kCall;
    f.at = start;
    f.callee_size = static_cast<uint32_t>(callee.size());
    f.is_uop = callee == "UOp";
    if (f.is_uop) {
      f.opens_scope = frames_.empty() || !frames_.back().is_src;
      if (f.opens_scope) scopes_.emplace_back();
    }
    ++at_;
    Open(std::move(f));
  }

  void Open(Frame f) {
    if (pending_name_ != kNoName && !f.is_uop) {
      return Fail(f.at, "expected UOp( behind ':='");
    }
    f.name = std::exchange(pending_name_, kNoName);
    f.key = std::exchange(key_, {});
    f.loc = Here(f.at);
    f.base = items_.size();
    f.is_src =
        f.kind == Kind::kTuple && f.key == "src" && !frames_.empty() && frames_.back().is_uop;
    if (frames_.empty() && !f.is_uop && f.kind == Kind::kCall) {
      return Fail(f.at, "expected UOp(Ops..., found '" + std::string(f.at, f.callee_size) + "('");
    }
    frames_.push_back(std::move(f));
    after_value_ = false;
  }

  void Close() {
    if (!key_.empty()) return Fail(at_, "expected a value behind '" + std::string(key_) + "='");
    if (pending_name_ != kNoName) return Fail(at_, "expected UOp( behind ':='");
    ++at_;
    const Frame f = std::move(frames_.back());
    frames_.pop_back();
    Value v;
    v.kind = f.kind;
    v.at = f.at;
    v.size = f.callee_size;
    v.count = static_cast<uint32_t>(items_.size() - f.base);
    if (f.is_uop) {
      const Node* node = MakeNode(f);
      if (!node) return;
      v.kind = Kind::kUOp;
      v.node = node;
      items_.resize(f.base);
      if (f.opens_scope) scopes_.pop_back();
      if (f.name != kNoName && !scopes_.empty()) scopes_.back()[f.name] = node;
    } else {
      v.items = result_->Keep(items_.data() + f.base, v.count);
      items_.resize(f.base);
    }
    key_ = f.key;
    if (frames_.empty() && v.kind == Kind::kTuple) {  // a list of UOps at the top
      result_->is_list = true;
      for (const Item& item : v.list()) PushRoot(item.value);
      key_ = {};
      after_value_ = false;
      return;
    }
    // A method call follows: dtypes.float.vec(4).ptr(16). This value is the receiver.
    if (at_ != end_ && *at_ == '.' && v.kind == Kind::kCall) return Method(v);
    Push(v);
  }

  void Method(const Value& receiver) {
    const char* start = at_;
    do ++at_;
    while (at_ != end_ && IsWord(*at_));
    if (at_ == end_ || *at_ != '(') return Fail(at_ == end_ ? start : at_, "expected '('");
    Frame f;
    f.kind = Kind::kCall;
    f.at = start;
    f.callee_size = static_cast<uint32_t>(at_ - start);
    ++at_;
    Open(std::move(f));
    if (!failed_) items_.push_back({{}, receiver});
  }

  // UOp(Ops.NAME, dtype, arg=value, src=(...)); a tag may follow the argument.
  const Node* MakeNode(const Frame& f) {
    const std::span<const Item> items(items_.data() + f.base, items_.size() - f.base);
    const auto complain = [&](std::string message) {
      diags_.Error(f.loc, std::move(message));
      failed_ = true;
      return nullptr;
    };
    if (items.size() < 3 || !items[0].key.empty() || items[0].value.kind != Kind::kName ||
        items[0].value.text().substr(0, 4) != "Ops." || !items[1].key.empty()) {
      return complain("expected UOp(Ops.NAME, dtype, arg=..., src=(...))");
    }
    Node node;
    node.op = items[0].value.text().substr(4);
    node.dtype = items[1].value;
    bool has_arg = false, has_src = false;
    for (const Item& item : items.subspan(2)) {
      if (item.key == "arg" && !has_arg) {
        node.arg = item.value;
        has_arg = true;
      } else if (item.key == "src" && !has_src && item.value.kind == Kind::kTuple) {
        node.src_items = item.value.items;
        node.num_srcs = item.value.count;
        has_src = true;
      } else if (item.key != "tag" && item.key != "metadata") {
        return complain(
            "UOp of a form that is not known: unexpected " +
            (item.key.empty() ? std::string("item") : "'" + std::string(item.key) + "'"));
      }
    }
    if (!has_arg || !has_src) {
      return complain(std::string("UOp without ") + (has_arg ? "src" : "arg"));
    }
    for (size_t i = 0; i < node.num_srcs; ++i) {
      if (node.src_items[i].value.kind != Kind::kUOp) {
        return complain("source " + std::to_string(i) + " is no UOp");
      }
    }
    node.loc = f.loc;
    node.id = static_cast<uint32_t>(result_->nodes.size());
    node.in_arg = scopes_.size() > 1;
    result_->nodes.push_back(node);
    return &result_->nodes.back();
  }

  void PushRoot(const Value& v) {
    if (v.kind == Kind::kUOp) {
      result_->roots.push_back(v.node);
    } else if (!failed_) {
      diags_.Error(result_->LocationOf(v.at),
                   "expected UOp(Ops..., found '" + std::string(v.text().substr(0, 40)) + "'");
      failed_ = true;
    }
  }

  void Push(const Value& v) {
    if (pending_name_ != kNoName) return Fail(v.at, "expected UOp( behind ':='");
    if (frames_.empty()) {
      PushRoot(v);
      after_value_ = false;
      return;
    }
    items_.push_back({std::exchange(key_, {}), v});
    after_value_ = true;
  }

  Diagnostics& diags_;
  const char* at_;
  const char* const end_;
  const char* line_start_;
  uint32_t line_ = 1;
  Location last_;  // end of the last token
  bool failed_ = false;
  bool after_value_ = false;  // the last token ended a value of the innermost frame
  uint32_t pending_name_ = kNoName;
  std::string_view key_;
  std::vector<Frame> frames_;
  std::vector<Item> items_;  // items of the open frames
  std::vector<Scope> scopes_;
  std::unique_ptr<Text> result_;
};

}  // namespace

std::unique_ptr<Text> ReadText(std::string_view text, Diagnostics& diags) {
  return Reader(text, diags).Read();
}

}  // namespace tg::tinygrad
