// A record of measurements as an SQLite database, which several processes may write.
#ifndef TG_RUNTIME_SEARCH_SQLITE_RECORD_H_
#define TG_RUNTIME_SEARCH_SQLITE_RECORD_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/search/record.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tg::search {

class SqliteRecord final : public Record {
 public:
  // Opens the file, and makes it if it is not there. Errors name the file. What Add has returned
  // from stays if the process is killed.
  static absl::StatusOr<std::unique_ptr<SqliteRecord>> Open(const std::string& path);
  ~SqliteRecord() override;

  // Threads may call these at once.
  absl::Status Add(const Measurement& measurement) override;
  absl::StatusOr<std::vector<Measurement>> Of(const std::string& kernel, const std::string& target,
                                              const std::string& driver) override;
  absl::StatusOr<std::vector<Measurement>> All() override;
  absl::Status AddKernel(const RecordedKernel& kernel) override;
  absl::StatusOr<std::vector<RecordedKernel>> Kernels() override;

 private:
  explicit SqliteRecord(std::string path) : path_(std::move(path)) {}
  absl::Status Execute(const char* command);
  absl::Status Prepare(const char* command, sqlite3_stmt** statement);
  absl::Status Error(std::string_view doing) const;
  absl::StatusOr<std::vector<Measurement>> Read(sqlite3_stmt* statement);

  const std::string path_;
  std::mutex mutex_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt *add_ = nullptr, *of_ = nullptr, *all_ = nullptr;
  sqlite3_stmt *add_kernel_ = nullptr, *kernels_ = nullptr;
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_SQLITE_RECORD_H_
