// Walking an attribute's words by its op's schema (ops.def). See Attr in ir/uop.h for the encoding.
#ifndef TG_IR_ATTR_H_
#define TG_IR_ATTR_H_

#include <cstdint>
#include <span>

#include "ir/op.h"

namespace tg {

// Calls f(field, words of the field) for each field of the attribute. The words of a list begin
// with its length.
template <typename Words, typename F>
void ForEachField(const OpInfo& info, Words&& words, F&& f) {
  size_t at = 0;
  for (int i = 0; i < info.num_fields; ++i) {
    const AttrField& field = info.fields[i];
    size_t n = 1;
    if (!IsOneWord(field.kind)) {
      n += static_cast<size_t>(words[at]) * (field.kind == FieldKind::kPairs ? 2 : 1);
    }
    f(field, std::span(words.data() + at, n));
    at += n;
  }
}

// Calls f(word) for each word that is a StringId.
template <typename Words, typename F>
void ForEachStringWord(const OpInfo& info, Words&& words, F&& f) {
  ForEachField(info, words, [&](const AttrField& field, auto w) {
    if (field.kind == FieldKind::kStr || field.kind == FieldKind::kSym) f(w[0]);
    if (field.kind == FieldKind::kTargets) {
      for (size_t i = 1; i < w.size(); ++i) f(w[i]);
    }
  });
}

}  // namespace tg

#endif  // TG_IR_ATTR_H_
