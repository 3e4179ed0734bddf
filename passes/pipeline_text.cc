#include "passes/pipeline_text.h"

#include "base/suggest.h"
#include "ir/text/diagnostic.h"

namespace tg::passes {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const PassRegistry& registry,
         std::span<const Pass* const> default_passes)
      : text_(text), registry_(registry), default_passes_(default_passes) {}

  absl::StatusOr<Pipeline> Read() {
    Pipeline pipeline;
    SkipSpaces();
    if (at_ == text_.size()) return pipeline;
    while (true) {
      if (absl::Status status = ReadPass(pipeline); !status.ok()) return status;
      if (at_ == text_.size()) return pipeline;
      ++at_;  // the comma
    }
  }

 private:
  absl::Status Error(size_t at, std::string message) const {
    return absl::InvalidArgumentError("pipeline, column " + std::to_string(at + 1) + ": " +
                                      std::move(message));
  }

  void SkipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  // The text up to one of `ends`, without the spaces around it.
  std::string_view ReadName(std::string_view ends) {
    SkipSpaces();
    const size_t begin = at_;
    while (at_ < text_.size() && ends.find(text_[at_]) == std::string_view::npos) ++at_;
    return Trimmed(begin);
  }

  absl::StatusOr<std::string_view> ReadValue() {
    SkipSpaces();
    const size_t begin = at_;
    std::string closers;  // the closing bracket of each open one, the innermost last
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quoted) {
        if (c == '\\' && at_ + 1 < text_.size()) {
          ++at_;
        } else if (c == '"') {
          quoted = false;
        }
        continue;
      }
      if (closers.empty() && (c == ',' || c == ':')) break;
      if (c == '"') quoted = true;
      if (c == '(') closers += ')';
      if (c == '[') closers += ']';
      if (c == '{') closers += '}';
      if (c == ')' || c == ']' || c == '}') {
        if (closers.empty() || closers.back() != c) {
          return Error(at_, std::string("unbalanced '") + c + "'");
        }
        closers.pop_back();
      }
    }
    if (quoted) return Error(begin, "the value's '\"' is not closed");
    if (!closers.empty())
      return Error(begin, std::string("the value lacks a '") + closers.back() + "'");
    return Trimmed(begin);
  }

  std::string_view Trimmed(size_t begin) const {
    size_t end = at_;
    while (end > begin && text_[end - 1] == ' ') --end;
    return text_.substr(begin, end - begin);
  }

  absl::Status ReadPass(Pipeline& pipeline) {
    SkipSpaces();
    const size_t begin = at_;
    const std::string_view name = ReadName(",:=");
    if (at_ < text_.size() && text_[at_] == '=') return Error(at_, "expected a pass, not '='");
    if (name.empty()) return Error(begin, "expected the name of a pass");
    if (name == "default") {
      if (at_ < text_.size() && text_[at_] == ':') {
        return Error(at_, "'default' has no options; name its passes instead");
      }
      for (const Pass* pass : default_passes_) pipeline.push_back(DefaultStep(*pass));
      return absl::OkStatus();
    }
    const absl::StatusOr<const Pass*> pass = registry_.Get(name);
    if (!pass.ok()) return Error(begin, std::string(pass.status().message()));
    PipelineStep step = DefaultStep(**pass);
    PassOptions given;
    while (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      if (absl::Status status = ReadOption(step, given); !status.ok()) return status;
    }
    pipeline.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status ReadOption(PipelineStep& step, PassOptions& given) {
    SkipSpaces();
    const size_t begin = at_;
    const std::string_view name = ReadName(",:=");
    const std::string of = " of pass '" + std::string(step.pass->name) + "'";
    if (name.empty()) return Error(begin, "expected the name of an option" + of);
    const PassOption* option = FindOption(*step.pass, name);
    if (!option) return Error(begin, UnknownOption(*step.pass, name));
    const std::string what = "option '" + std::string(name) + "'" + of;
    std::string value = "true";
    size_t value_at = at_;
    if (at_ < text_.size() && text_[at_] == '=') {
      value_at = ++at_;
      const absl::StatusOr<std::string_view> read = ReadValue();
      if (!read.ok()) return read.status();
      value = std::string(*read);
    } else if (option->kind != PassOption::Kind::kFlag) {
      return Error(begin, what + " needs a value: " + std::string(name) + "=...");
    }
    const std::string_view wrong = CheckOptionValue(*option, value);
    if (!wrong.empty())
      return Error(value_at, what + " " + std::string(wrong) + ", not '" + value + "'");
    if (!given.emplace(name, value).second) return Error(begin, what + " is given twice");
    step.options.find(name)->second = value;
    return absl::OkStatus();
  }

  static std::string UnknownOption(const Pass& pass, std::string_view name) {
    std::string message =
        "pass '" + std::string(pass.name) + "' has no option '" + std::string(name) + "'";
    if (pass.options.empty()) return message + "; it has none";
    std::vector<std::string_view> names;
    for (const PassOption& option : pass.options) names.push_back(option.name);
    const std::string suggestion = DidYouMean(name, names);
    if (!suggestion.empty()) return message + suggestion;
    message += "; it has:";
    for (const std::string_view n : names) message += (n == names[0] ? " " : ", ") + std::string(n);
    return message;
  }

  std::string_view text_;
  const PassRegistry& registry_;
  std::span<const Pass* const> default_passes_;
  size_t at_ = 0;
};

}  // namespace

PipelineStep DefaultStep(const Pass& pass) {
  PipelineStep step{&pass, {}};
  for (const PassOption& option : pass.options) {
    step.options.emplace(option.name, option.default_value);
  }
  return step;
}

Pipeline MakePipeline(std::span<const Pass* const> passes) {
  Pipeline pipeline;
  for (const Pass* pass : passes) pipeline.push_back(DefaultStep(*pass));
  return pipeline;
}

absl::StatusOr<Pipeline> ParsePipeline(std::string_view text, const PassRegistry& registry,
                                       std::span<const Pass* const> default_passes) {
  return Reader(text, registry, default_passes).Read();
}

std::string PrintStep(const PipelineStep& step) {
  std::string text(step.pass->name);
  for (const PassOption& option : step.pass->options) {
    const std::string& value = step.options.find(option.name)->second;
    if (value == option.default_value) continue;
    text += ":" + std::string(option.name);
    if (option.kind != PassOption::Kind::kFlag || value != "true") text += "=" + value;
  }
  return text;
}

std::string PrintPipeline(std::span<const PipelineStep> pipeline) {
  std::string text;
  for (const PipelineStep& step : pipeline) text += (text.empty() ? "" : ",") + PrintStep(step);
  return text;
}

}  // namespace tg::passes
