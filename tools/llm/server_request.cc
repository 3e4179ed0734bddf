#include "tools/llm/server_request.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/io/json_check.h"

namespace tg::llm {
namespace {

namespace json = llvm::json;

// The greatest nesting depth of objects and lists.
constexpr int kMaxDepth = 64;

// Fields that are read, or that say who asks.
constexpr std::string_view kFields[] = {
    "max_completion_tokens", "max_tokens", "min_p",       "model",  "n",    "prompt_cache_key",
    "repeat_penalty",        "seed",       "stop",        "stream", "user", "safety_identifier",
    "stream_options",        "top_k",      "temperature", "top_p"};

// Values of other fields that ask for what is done anyway.
struct Neutral {
  std::string_view field, value;  // as compact JSON
};
constexpr Neutral kNeutral[] = {
    {"best_of", "1"},
    {"function_call", "\"auto\""},
    {"function_call", "\"none\""},
    {"modalities", "[\"text\"]"},
    {"parallel_tool_calls", "true"},
    {"response_format", "{\"type\":\"text\"}"},
    {"service_tier", "\"auto\""},
    {"service_tier", "\"default\""},
    {"tool_choice", "\"auto\""},
    {"tool_choice", "\"none\""},
};

std::string Compact(const json::Value& value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

// Whether a field that is not supported asks for nothing.
bool IsNeutral(std::string_view field, const json::Value& value, bool is_chat) {
  const std::string text = Compact(value);
  // A completion with 0 gets the probability of each token that it has.
  if (field == "logprobs" && !is_chat && value.kind() == json::Value::Number) return false;
  if (const auto number = value.getAsNumber()) {
    if (*number == 0) return true;
  }
  for (const std::string_view empty : {"null", "false", "[]", "{}", "\"\""}) {
    if (text == empty) return true;
  }
  return std::any_of(std::begin(kNeutral), std::end(kNeutral),
                     [&](const Neutral& n) { return n.field == field && n.value == text; });
}

// Returns an error for the first field, in alphabetical order, that is neither one of `known` nor
// neutral. `place` is what precedes its name.
absl::Status CheckFields(const json::Object& object, std::span<const std::string_view> known,
                         std::string_view place, bool is_chat) {
  std::vector<std::string_view> wrong;
  for (const auto& [key, value] : object) {
    const llvm::StringRef text = key;
    const std::string_view name(text.data(), text.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (!IsNeutral(name, value, is_chat)) wrong.push_back(name);
  }
  if (wrong.empty()) return absl::OkStatus();
  return InvalidArgument("'", place, *std::min_element(wrong.begin(), wrong.end()),
                         "' is not supported");
}

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
  void Text(const char* name, std::string* to) {
    const json::Value* value = Find(name);
    if (!value) return;
    if (const auto text = value->getAsString()) {
      *to = text->str();
    } else {
      Fail(name, "a text");
    }
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

// Adds the text of a part of a message, which is of type "text". Returns whether it is one.
absl::StatusOr<bool> AddPart(const json::Value& value, const std::string& place, std::string& to) {
  const json::Object* part = value.getAsObject();
  if (!part) return false;
  const auto type = part->getString("type"), text = part->getString("text");
  if (!type || *type != "text" || !text) return false;
  constexpr std::string_view kKnown[] = {"type", "text"};
  TG_RETURN_IF_ERROR(CheckFields(*part, kKnown, place, /*is_chat=*/true));
  to += text->str();
  return true;
}

// The text of a message: a string, or a list of parts of type "text". Returns nothing for another
// content.
absl::StatusOr<std::optional<std::string>> ContentOf(const json::Object& message,
                                                     const std::string& place) {
  if (const auto text = message.getString("content")) return text->str();
  const json::Array* parts = message.getArray("content");
  if (!parts) return std::nullopt;
  std::string content;
  for (size_t i = 0; i < parts->size(); ++i) {
    TG_ASSIGN_OR_RETURN(const bool is_text,
                        AddPart((*parts)[i], Cat(place, "content[", i, "]."), content));
    if (!is_text) return std::nullopt;
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
    const std::string place = Cat("messages[", to.size(), "].");
    std::optional<std::string> content;
    if (message) {
      TG_ASSIGN_OR_RETURN(content, ContentOf(*message, place));
    }
    const auto role = message ? message->getString("role") : decltype(message->getString("role"))();
    if (!role || !content) {
      return InvalidArgument("'messages[", to.size(),
                             "]' needs a 'role' and a 'content', which is a text or parts of "
                             "type 'text'");
    }
    constexpr std::string_view kKnown[] = {"role", "content"};
    TG_RETURN_IF_ERROR(CheckFields(*message, kKnown, place, /*is_chat=*/true));
    to.push_back({role->str(), *std::move(content)});
  }
  return absl::OkStatus();
}

absl::Status ReadStreamOptions(const json::Object& body, ServerRequest& to) {
  const json::Value* value = body.get("stream_options");
  if (!value || value->kind() == json::Value::Null) return absl::OkStatus();
  const json::Object* options = value->getAsObject();
  if (!options) return InvalidArgument("'stream_options' is an object");
  FieldReader fields(*options);
  fields.Bool("include_usage", &to.includes_usage);
  TG_RETURN_IF_ERROR(fields.status());
  constexpr std::string_view kKnown[] = {"include_usage"};
  return CheckFields(*options, kKnown, "stream_options.", /*is_chat=*/true);
}

// A text, or a list of one text.
absl::Status ReadPrompt(const json::Object& body, std::string& to) {
  auto prompt = body.getString("prompt");
  const json::Array* list = body.getArray("prompt");
  if (list && list->size() == 1) prompt = list->front().getAsString();
  if (!prompt) return InvalidArgument("'prompt' is a text");
  to = prompt->str();
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
  std::string ignored;
  for (const char* name : {"model", "user", "prompt_cache_key", "safety_identifier"}) {
    fields.Text(name, &ignored);
  }
  TG_RETURN_IF_ERROR(fields.status());
  TG_RETURN_IF_ERROR(ReadStreamOptions(*object, request));
  TG_RETURN_IF_ERROR(is_chat ? ReadMessages(*object, request.messages)
                             : ReadPrompt(*object, request.prompt));
  std::vector<std::string_view> known(std::begin(kFields), std::end(kFields));
  known.push_back(is_chat ? "messages" : "prompt");
  TG_RETURN_IF_ERROR(CheckFields(*object, known, "", is_chat));
  return request;
}

}  // namespace tg::llm
