#include "capi/calls.h"

#include "base/status.h"
#include "capi/language_model.h"
#include "capi/model.h"
#include "capi/task.h"

namespace tg::capi {
namespace {

thread_local std::string last_error;

tg_status CodeOf(const absl::Status& status) {
  // An error that this list does not name is a fault of tg's.
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return TG_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return TG_INVALID_ARGUMENT;
    case absl::StatusCode::kNotFound:
      return TG_NOT_FOUND;
    case absl::StatusCode::kFailedPrecondition:
      return TG_FAILED_PRECONDITION;
    case absl::StatusCode::kUnimplemented:
      return TG_UNIMPLEMENTED;
    case absl::StatusCode::kResourceExhausted:
      return TG_RESOURCE_EXHAUSTED;
    case absl::StatusCode::kCancelled:
      return TG_CANCELLED;
    default:
      return TG_INTERNAL;
  }
}

}  // namespace

// These are not destroyed: a process may end while another thread is in a call.
ModelTable& Models() {
  static ModelTable& table = *new ModelTable;
  return table;
}
TaskTable& Tasks() {
  static TaskTable& table = *new TaskTable;
  return table;
}
TextTable& Texts() {
  static TextTable& table = *new TextTable;
  return table;
}
LanguageModelTable& LanguageModels() {
  static LanguageModelTable& table = *new LanguageModelTable;
  return table;
}

const std::string& LastError() { return last_error; }

tg_status Return(const absl::Status& status) {
  if (status.ok()) {
    last_error.clear();
    return TG_OK;
  }
  last_error = std::string(status.message());
  return CodeOf(status);
}

tg_status BadHandle(std::string_view type) {
  last_error = Cat("this ", type, " is not open");
  return TG_BAD_HANDLE;
}

absl::Status IsNull(std::string_view what) {
  return InvalidArgument("the pointer ", what, " is null");
}

absl::Status StoreText(absl::StatusOr<std::string> text, tg_text* out) {
  if (!text.ok()) return text.status();
  out->id = Texts().Add(std::make_shared<const std::string>(*std::move(text)));
  return absl::OkStatus();
}

}  // namespace tg::capi
