// What the functions of tg.h share: the thread's error, and the table of texts.
#ifndef TG_CAPI_CALLS_H_
#define TG_CAPI_CALLS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/handles.h"
#include "include/tg/tg.h"

namespace tg::capi {

class LanguageModel;
class Model;
class Task;

using ModelTable = HandleTable<Model, 'M'>;
using TextTable = HandleTable<const std::string, 'T'>;
using LanguageModelTable = HandleTable<LanguageModel, 'L'>;

using TaskTable = HandleTable<Task, 'R'>;

ModelTable& Models();
TaskTable& Tasks();
TextTable& Texts();
LanguageModelTable& LanguageModels();

// The message of the thread's last call.
const std::string& LastError();
// Keeps the message, and returns the code.
tg_status Return(const absl::Status& status);
tg_status BadHandle(std::string_view type);

absl::Status IsNull(std::string_view what);

// Stores a value that a call gives, or returns its error.
template <typename T>
absl::Status Store(absl::StatusOr<T> value, T* out) {
  if (!value.ok()) return value.status();
  *out = *std::move(value);
  return absl::OkStatus();
}
absl::Status StoreText(absl::StatusOr<std::string> text, tg_text* out);

}  // namespace tg::capi

#endif  // TG_CAPI_CALLS_H_
