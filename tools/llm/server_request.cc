#include "tools/llm/server_request.h"

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "runtime/io/json_check.h"

namespace tg::llm {
namespace {

namespace json = llvm::json;

// The greatest nesting depth of objects and lists.
constexpr int kMaxDepth = 64;

// Reads fields of an object and keeps the first error.
class FieldReader {
 public:
  explicit FieldReader(const json::Object& object) : object_(object) {}

  void Number(const char* name, double least, double most, double* to) {
    const json::Value* value = Find(name);
    if (!value) return;
    const auto number = value->getAsNumber();
    if (number && *number >= least && *number <= most) {
      *to = *number;
    } else {
      Fail(name, Cat("a number from ", std::to_string(least), " to ", std::to_string(most)));
    }
  }
  void Integer(const char* name, int64_t least, int64_t* to) {
    const json::Value* value = Find(name);
    if (!value) return;
    const auto number = value->getAsInteger();
    if (number && *number >= least) {
      *to = *number;
    } else {
      Fail(name, Cat("an integer of at least ", least));
    }
  }
  void Bool(const char* name, bool* to) {
    const json::Value* value = Find(name);
    if (!value) return;
    const auto flag = value->getAsBoolean();
    if (flag) {
      *to = *flag;
    } else {
      Fail(name, "true or false");
    }
  }
  // A text, or a list of texts.
  void Texts(const char* name, std::vector<std::string>* to) {
    const json::Value* value = Find(name);
    if (!value) return;
    to->clear();
    if (const auto text = value->getAsString()) {
      to->push_back(text->str());
      return;
    }
    const json::Array* list = value->getAsArray();
    for (size_t i = 0; list && i < list->size(); ++i) {
      if (const auto text = (*list)[i].getAsString()) to->push_back(text->str());
    }
    if (!list || to->size() != list->size()) Fail(name, "a text or a list of texts");
  }
  const json::Value* Find(const char* name) const {
    const json::Value* value = object_.get(name);
    return value && value->kind() != json::Value::Null ? value : nullptr;
  }
  void Fail(const char* name, std::string_view what) {
    status_.Update(InvalidArgument("'", name, "' is ", what));
  }
  const absl::Status& status() const { return status_; }

 private:
  const json::Object& object_;
  absl::Status status_;
};

// The text of a message: a string, or a list of parts of type "text".
std::optional<std::string> ContentOf(const json::Object& message) {
  if (const auto text = message.getString("content")) return text->str();
  const json::Array* parts = message.getArray("content");
  if (!parts) return std::nullopt;
  std::string content;
  for (const json::Value& value : *parts) {
    const json::Object* part = value.getAsObject();
    if (!part) return std::nullopt;
    const auto type = part->getString("type"), text = part->getString("text");
    if (!type || *type != "text" || !text) return std::nullopt;
    content += text->str();
  }
  return content;
}

absl::Status ReadMessages(const json::Object& body, std::vector<tokenizer::ChatMessage>& to) {
  const json::Array* messages = body.getArray("messages");
  if (!messages || messages->empty()) {
    return InvalidArgument("'messages' is a list of at least one message");
  }
  for (const json::Value& value : *messages) {
    const json::Object* message = value.getAsObject();
    std::optional<std::string> content;
    if (message) content = ContentOf(*message);
    const auto role = message ? message->getString("role") : decltype(message->getString("role"))();
    if (!role || !content) {
      return InvalidArgument("'messages[", to.size(),
                             "]' needs a 'role' and a 'content', which is a text or parts of "
                             "type 'text'");
    }
    to.push_back({role->str(), *std::move(content)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerRequest> ParseServerRequest(std::string_view body, bool is_chat,
                                                 const GenerateOptions& defaults) {
  // The parser recurses: nesting is bounded before.
  TG_RETURN_IF_ERROR(runtime::CheckJsonDepthAndKeys(body, kMaxDepth, "the body"));
  llvm::Expected<json::Value> parsed = json::parse(llvm::StringRef(body.data(), body.size()));
  if (!parsed) {
    return InvalidArgument("the body is not JSON: ", llvm::toString(parsed.takeError()));
  }
  const json::Object* object = parsed->getAsObject();
  if (!object) return InvalidArgument("the body is not a JSON object");
  ServerRequest request;
  request.generate = defaults;
  SamplerOptions& sampling = request.generate.sampling;
  FieldReader fields(*object);
  fields.Bool("stream", &request.stream);
  fields.Integer("max_tokens", 0, &request.generate.max_tokens);
  fields.Integer("max_completion_tokens", 0, &request.generate.max_tokens);
  fields.Number("temperature", 0, 100, &sampling.temperature);
  fields.Number("top_p", 0, 1, &sampling.top_p);
  fields.Number("min_p", 0, 1, &sampling.min_p);
  fields.Integer("top_k", 0, &sampling.top_k);
  fields.Number("repeat_penalty", 0.01, 100, &sampling.repeat_penalty);
  auto seed = static_cast<int64_t>(sampling.seed);
  fields.Integer("seed", INT64_MIN, &seed);
  sampling.seed = static_cast<uint64_t>(seed);
  fields.Texts("stop", &request.generate.stops);
  int64_t replies = 1;
  fields.Integer("n", 1, &replies);
  if (replies != 1) fields.Fail("n", "1: one reply is made");
  if (!fields.status().ok()) return fields.status();
  if (is_chat) {
    TG_RETURN_IF_ERROR(ReadMessages(*object, request.messages));
    return request;
  }
  const auto prompt = object->getString("prompt");
  if (!prompt) return InvalidArgument("'prompt' is a text");
  request.prompt = prompt->str();
  return request;
}

}  // namespace tg::llm
