// Measurements and kernels as text, a JSON object a line, to be sent between processes.
#ifndef TG_RUNTIME_SEARCH_RECORD_LINES_H_
#define TG_RUNTIME_SEARCH_RECORD_LINES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/search/record.h"

namespace tg::search {

// All that the record has.
absl::StatusOr<std::string> RecordLines(Record& record);
// Adds it to another one. Of two measurements of a schedule, one that was compared in a model
// stays.
absl::Status AddLines(std::string_view lines, Record& record);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_RECORD_LINES_H_
