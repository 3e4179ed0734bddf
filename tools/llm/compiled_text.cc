#include "tools/llm/compiled_text.h"

#include <utility>

#include "base/status.h"
#include "runtime/artifact/fields.h"

namespace tg::llm {
namespace {

using artifact::Optional;
using artifact::Strings;

template <typename A>
void Fields(A& a, CompiledText& text) {
  TextModelSizes& sizes = text.sizes;
  for (int64_t* size : {&sizes.vocabulary, &sizes.context, &sizes.short_context, &sizes.max_blocks,
                        &sizes.weight_bytes}) {
    a.Number(*size);
  }
  tokenizer::TokenizerData& t = text.tokenizer;
  for (std::string* name : {&t.architecture, &t.name, &t.model, &t.pre, &t.chat_template}) {
    a.String(*name);
  }
  Strings(a, "a list of tokens", t.tokens);
  a.List("a list of scores", t.scores, [&](float& score) { a.Number(score); });
  a.List("a list of types", t.token_types, [&](int32_t& type) { a.Number(type); });
  a.List("a list of merges", t.numbered_merges, [&](int32_t& number) { a.Number(number); });
  for (std::optional<int64_t>* id : {&t.bos_id, &t.eos_id, &t.eot_id, &t.eom_id, &t.unknown_id,
                                     &t.separator_id, &t.padding_id, &t.mask_id}) {
    Optional(a, *id);
  }
  for (std::optional<bool>* flag : {&t.add_bos, &t.add_eos, &t.add_separator, &t.add_space_prefix,
                                    &t.lowercase, &t.strip_accents}) {
    std::optional<uint8_t> byte;
    if (flag->has_value()) byte = **flag ? 1 : 0;
    Optional(a, byte);
    if constexpr (A::kReads) *flag = byte ? std::optional(*byte != 0) : std::nullopt;
  }
}

}  // namespace

std::string EncodeText(CompiledText text) {
  artifact::FieldWriter writer;
  Fields(writer, text);
  return writer.Take();
}

absl::StatusOr<CompiledText> DecodeText(std::string_view bytes) {
  CompiledText text;
  artifact::FieldReader reader(bytes, "the text model");
  Fields(reader, text);
  if (!reader.error().empty()) return absl::InvalidArgumentError(reader.error());
  if (!reader.AtEnd()) {
    return InvalidArgument("the text model ends at byte ", reader.at(), " of ", bytes.size());
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  const TextModelSizes& sizes = text.sizes;
  for (const int64_t size : {sizes.vocabulary, sizes.context, sizes.max_blocks}) {
    if (size < 1 || size > kMost) return InvalidArgument("the text model has a size of ", size);
  }
  return text;
}

}  // namespace tg::llm
