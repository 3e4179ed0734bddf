// V407: a repeat and the graph that it runs.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/verify/body_check.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tg::verify {
namespace {

llvm::StringRef Ref(std::string_view text) { return {text.data(), text.size()}; }

// The names of the buffers that a graph writes.
llvm::StringSet<> WrittenBy(BodyCheck& c) {
  llvm::StringSet<> written;
  const auto add = [&](int64_t word) { written.insert(Ref(c.String(word))); };
  for (const UOp* u : c.order) {
    if (u->op == Op::kAssign) {
      if (const UOp* buffer = BufferOf(u->src(0)); buffer->op == Op::kBuffer) add(buffer->word(0));
    }
    if (u->op != Op::kSink) continue;
    for (const int64_t word : u->list()) {
      if (word) add(word);
    }
  }
  return written;
}

class RepeatCheck {
 public:
  RepeatCheck(BodyCheck& c, BodyCheck& body, const UOp* repeat)
      : c_(c),
        body_(body),
        repeat_(repeat),
        pairs_(static_cast<size_t>(repeat->word(1))),
        writes_(static_cast<size_t>(repeat->word(2))) {}

  void Run() {
    for (size_t i = 2; i < repeat_->num_srcs; ++i) {
      if (!CheckOperand(i)) return;
    }
    if (repeat_->word(3) != 0 && !CheckCondition()) return;
    if (CheckBody()) CheckAssigns();
  }

 private:
  // What the operand is to the body.
  enum class Use { kFirst, kSecond, kWritten, kRead };
  Use UseOf(size_t i) const {
    if (i - 2 < 2 * pairs_) return (i - 2) % 2 == 0 ? Use::kFirst : Use::kSecond;
    return i - 2 < 2 * pairs_ + writes_ ? Use::kWritten : Use::kRead;
  }

  bool Fail(std::string message) {
    c_.Error(Rule::kLoopBody, repeat_, std::move(message));
    return false;
  }

  const BufferDecl& DeclOf(size_t i) const {
    return *c_.symbols.buffers.lookup(Ref(c_.String(BufferOf(repeat_->src(i))->word(0))));
  }

  bool CheckOperand(size_t i) {
    const UOp* operand = repeat_->src(i);
    const std::string what = "operand " + std::to_string(i) + " (" + c_.Name(operand) + ") ";
    const UOp* memory = operand;
    while (memory->op == Op::kAssign || memory->op == Op::kAfter) memory = memory->src(0);
    if (memory->op != Op::kBuffer) return Fail(what + "is not a buffer (buffer, assign or after)");
    const BufferDecl& decl = DeclOf(i);
    if (!operands_.try_emplace(decl.name, i).second) return Fail(what + "is there twice");
    const Use use = UseOf(i);
    if (use != Use::kRead && decl.role != Role::kTemp) {
      return Fail(what + "is written, and '@" + decl.name + "' is no temp");
    }
    if (use != Use::kSecond) return true;
    if (operand->op != Op::kBuffer) return Fail(what + "has contents, which no iteration reads");
    const BufferDecl& first = DeclOf(i - 1);
    return (first.dtype == decl.dtype && first.shape == decl.shape) ||
           Fail(what + "has another type or shape than the other buffer of its pair");
  }

  bool CheckCondition() {
    const BufferDecl& decl = DeclOf(2);
    int64_t n = 1;
    for (const DeclDim& d : decl.shape) n *= d.is_symbolic() ? 0 : d.size;
    return (decl.dtype == kBool && n == 1) || Fail("its condition is not one bool");
  }

  bool CheckBody() {
    const llvm::StringSet<> written = WrittenBy(body_), by_caller = WrittenBy(c_);
    for (const auto& entry : written) {
      const std::string name = entry.first().str();
      const auto operand = operands_.find(name);
      if (operand == operands_.end()) {
        if (c_.symbols.buffers.lookup(name)->role == Role::kTemp && !by_caller.contains(name)) {
          continue;  // memory of the body alone
        }
        return Fail("its body writes '@" + name + "', which is no operand");
      }
      const Use use = UseOf(operand->second);
      if (use == Use::kFirst || use == Use::kRead) {
        return Fail("its body writes '@" + name + "', which is an operand that it reads");
      }
    }
    for (const auto& [name, i] : operands_) {
      if (UseOf(i) == Use::kSecond && !written.contains(name)) {
        return Fail("its body does not write '@" + name + "'");
      }
    }
    for (const UOp* u : body_.order) {
      if (u->op != Op::kBuffer) continue;
      const std::string name(body_.String(u->word(0)));
      if (!operands_.contains(name) && by_caller.contains(name)) {
        return Fail("its body uses '@" + name + "', which its graph writes, and it is no operand");
      }
    }
    return true;
  }

  // Each buffer with contents after the loop is written by an assign, unless nothing else uses it.
  void CheckAssigns() {
    NodeMap<std::vector<const UOp*>> users;
    for (const UOp* u : c_.order) {
      for (const UOp* s : u->srcs()) users[s].push_back(u);
    }
    const std::vector<const UOp*>& results = users.Get(repeat_);
    size_t count = 0;
    for (size_t i = 2; i < repeat_->num_srcs; ++i) {
      if (UseOf(i) != Use::kFirst && UseOf(i) != Use::kWritten) continue;
      const UOp* operand = repeat_->src(i);
      const bool is_assigned = std::any_of(results.begin(), results.end(), [&](const UOp* u) {
        return u->op == Op::kAssign && u->src(0) == operand;
      });
      const std::vector<const UOp*>& of_buffer =
          users.Get(operand->num_srcs > 0 ? operand->src(0) : operand);
      const bool starts = operand->op == Op::kAssign && operand->src(0)->op == Op::kBuffer &&
                          std::all_of(of_buffer.begin(), of_buffer.end(), [&](const UOp* u) {
                            return u == operand || u == operand->src(1);
                          });
      const bool is_private =
          users.Get(operand).size() == 1 && (operand->op == Op::kBuffer || starts);
      count += is_assigned ? 1 : 0;
      if (is_assigned || is_private) continue;
      Fail("it writes operand " + std::to_string(i) + ", and no assign says so");
      return;
    }
    const auto is_result = [&](const UOp* u) {
      return u->op == Op::kAssign && u->src(1) == repeat_;
    };
    if (std::count_if(results.begin(), results.end(), is_result) > static_cast<int64_t>(count)) {
      Fail("an assign of it has a target that it does not write");
    }
  }

  BodyCheck& c_;
  BodyCheck& body_;
  const UOp* repeat_;
  const size_t pairs_, writes_;
  std::map<std::string, size_t> operands_;  // by name: the number of the source
};

}  // namespace

void CheckRepeat(BodyCheck& c, BodyCheck& body, const UOp* repeat) {
  RepeatCheck(c, body, repeat).Run();
}

}  // namespace tg::verify
