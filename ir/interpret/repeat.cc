// Running a graph repeatedly on buffers.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/interpret/graph_run.h"

namespace tg::interpret {
namespace {

VersionPtr NewVersion(std::string name, std::shared_ptr<const HostBuffer> contents) {
  return std::make_shared<const Version>(Version{std::move(name), std::move(contents), {}});
}

VersionPtr Undefined(const VersionPtr& like) {
  const HostBuffer& b = *like->contents;
  return NewVersion(like->name, std::make_shared<HostBuffer>(UndefinedBuffer(b.dtype, b.shape)));
}

// All of `contents` that has a value, as one write.
std::shared_ptr<const WriteRecord> RecordOf(const HostBuffer& contents, int order) {
  auto record = std::make_shared<WriteRecord>();
  record->order = order;
  for (size_t i = 0; i < contents.data.size(); ++i) {
    if (!contents.IsDefined(i)) continue;
    record->indices.push_back(static_cast<int64_t>(i));
    record->values.push_back(contents.data[i]);
    if (!contents.error.empty()) record->errors.push_back(contents.error[i]);
  }
  return record;
}

}  // namespace

absl::Status GraphRun::Repeat(const UOp* u, GraphValue& v) {
  const std::string name = Text(u->word(0));
  const Graph* body = p_.module.FindGraph(name);
  if (!body) return absl::InvalidArgumentError(absl::StrCat("there is no graph @", name));
  if (depth_ > 50)
    return absl::InvalidArgumentError("loops are nested too deeply (does a body run itself?)");
  const auto trip = Number(u, 0);
  if (!trip.ok()) return trip.status();
  const auto pairs = static_cast<size_t>(u->word(1)), writes = static_cast<size_t>(u->word(2));
  const bool has_condition = u->word(3) != 0;
  // The buffers as the body sees them. The graph does not write all of them.
  GraphProgram inner{p_.module, p_.inputs, p_.vars, p_.options, p_.entries};
  std::vector<VersionPtr> operands;
  for (size_t i = 2; i < u->num_srcs; ++i) {
    const VersionPtr& version = values_[u->src(i)]->version;
    if (!version) return absl::InvalidArgumentError(absl::StrCat("source ", i, " is no buffer"));
    operands.push_back(version);
    inner.entries[version->name] = NewVersion(version->name, version->contents);
  }
  for (size_t k = 0; k < pairs; ++k) {
    inner.entries[operands[2 * k + 1]->name] = Undefined(operands[2 * k + 1]);
  }
  for (int64_t i = 0; i < *trip; ++i) {
    if (has_condition) {
      const HostBuffer& condition = *inner.entries[operands[0]->name]->contents;
      if (condition.data.size() != 1 || !condition.IsDefined(0)) {
        return absl::InvalidArgumentError("the loop's condition is not one number");
      }
      if (condition.data[0] == 0) break;
    }
    inner.vars[Text(u->src(1)->word())] = i;
    auto next = GraphRun(inner, *body, {}, depth_ + 1).Run();
    if (!next.ok()) return next.status();
    for (auto& [written, contents] : next->buffers) {
      contents.written.clear();
      inner.entries[written] = NewVersion(written, std::make_shared<HostBuffer>(contents));
    }
    for (size_t k = 0; k < pairs; ++k) {
      const std::string &first = operands[2 * k]->name, &second = operands[2 * k + 1]->name;
      inner.entries[first] = NewVersion(first, inner.entries[second]->contents);
      inner.entries[second] = Undefined(operands[2 * k + 1]);
    }
    // Other buffers that the body writes have no contents on entry of an iteration.
    for (const auto& [written, contents] : next->buffers) {
      bool is_operand = false;
      for (const VersionPtr& operand : operands) is_operand |= operand->name == written;
      if (!is_operand) inner.entries.erase(written);
    }
  }
  for (size_t k = 0; k < 2 * pairs + writes; ++k) {
    if (k < 2 * pairs && k % 2 == 1) continue;
    const HostBuffer& contents = *inner.entries[operands[k]->name]->contents;
    v.written.push_back(Apply(operands[k], RecordOf(contents, next_write_++)));
  }
  return absl::OkStatus();
}

}  // namespace tg::interpret
