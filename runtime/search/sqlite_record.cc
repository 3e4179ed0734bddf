#include "runtime/search/sqlite_record.h"

#include <sqlite3.h>

#include <cstdint>
#include <utility>

#include "base/status.h"

namespace tg::search {
namespace {

// Of the table. A file of another version is refused, rather than misread.
constexpr int kVersion = 1;
constexpr char kSchema[] =
    "CREATE TABLE IF NOT EXISTS schedules ("
    "kernel TEXT, target TEXT, driver TEXT, key TEXT, directives TEXT, outcome INTEGER, "
    "predicted REAL, seconds REAL, first_seconds REAL, what TEXT, "
    "PRIMARY KEY (kernel, target, driver, key, directives)) WITHOUT ROWID";
constexpr char kKernelSchema[] =
    "CREATE TABLE IF NOT EXISTS kernels (kernel TEXT PRIMARY KEY, name TEXT, module TEXT) "
    "WITHOUT ROWID";
constexpr char kAddKernel[] = "INSERT OR REPLACE INTO kernels VALUES (?, ?, ?)";
constexpr char kKernels[] = "SELECT * FROM kernels ORDER BY kernel";
constexpr char kAdd[] = "INSERT OR REPLACE INTO schedules VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr char kOf[] = "SELECT * FROM schedules WHERE kernel = ? AND target = ? AND driver = ?";
constexpr char kAll[] = "SELECT * FROM schedules ORDER BY kernel, target, driver, key, directives";
// How long to wait while another process writes.
constexpr int kBusyMilliseconds = 20000;

std::string TextOf(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

void Bind(sqlite3_stmt* statement, int index, const std::string& text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

}  // namespace

absl::Status SqliteRecord::Error(std::string_view doing) const {
  return absl::UnavailableError(Cat("cannot ", doing, " ", path_, ": ", sqlite3_errmsg(database_)));
}

absl::Status SqliteRecord::Execute(const char* command) {
  if (sqlite3_exec(database_, command, nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return Error("open");
}

absl::Status SqliteRecord::Prepare(const char* command, sqlite3_stmt** statement) {
  if (sqlite3_prepare_v2(database_, command, -1, statement, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return Error("read");
}

absl::StatusOr<std::unique_ptr<SqliteRecord>> SqliteRecord::Open(const std::string& path) {
  std::unique_ptr<SqliteRecord> record(new SqliteRecord(path));
  if (sqlite3_open(path.c_str(), &record->database_) != SQLITE_OK) return record->Error("open");
  sqlite3_busy_timeout(record->database_, kBusyMilliseconds);
  sqlite3_stmt* version = nullptr;
  TG_RETURN_IF_ERROR(record->Prepare("PRAGMA user_version", &version));
  const int step = sqlite3_step(version);
  const int found = step == SQLITE_ROW ? sqlite3_column_int(version, 0) : -1;
  sqlite3_finalize(version);
  if (found < 0) return record->Error("read");
  if (found != 0 && found != kVersion) {
    return InvalidArgument(path, ": a record of version ", found, ", not ", kVersion);
  }
  TG_RETURN_IF_ERROR(record->Execute(kSchema));
  TG_RETURN_IF_ERROR(record->Execute(kKernelSchema));
  if (found == 0)
    TG_RETURN_IF_ERROR(record->Execute(Cat("PRAGMA user_version = ", kVersion).c_str()));
  TG_RETURN_IF_ERROR(record->Prepare(kAdd, &record->add_));
  TG_RETURN_IF_ERROR(record->Prepare(kOf, &record->of_));
  TG_RETURN_IF_ERROR(record->Prepare(kAll, &record->all_));
  TG_RETURN_IF_ERROR(record->Prepare(kAddKernel, &record->add_kernel_));
  TG_RETURN_IF_ERROR(record->Prepare(kKernels, &record->kernels_));
  return record;
}

SqliteRecord::~SqliteRecord() {
  for (sqlite3_stmt* statement : {add_, of_, all_, add_kernel_, kernels_}) {
    sqlite3_finalize(statement);
  }
  sqlite3_close(database_);
}

absl::Status SqliteRecord::Add(const Measurement& m) {
  const std::lock_guard lock(mutex_);
  int index = 0;
  for (const std::string* text : {&m.kernel, &m.target, &m.driver, &m.key, &m.directives}) {
    Bind(add_, ++index, *text);
  }
  sqlite3_bind_int(add_, ++index, static_cast<int>(m.outcome));
  for (const double number : {m.predicted_seconds, m.seconds, m.first_seconds}) {
    sqlite3_bind_double(add_, ++index, number);
  }
  Bind(add_, ++index, m.what);
  const bool is_done = sqlite3_step(add_) == SQLITE_DONE;
  absl::Status status = is_done ? absl::OkStatus() : Error("write");
  sqlite3_reset(add_);
  return status;
}

absl::StatusOr<std::vector<Measurement>> SqliteRecord::Read(sqlite3_stmt* statement) {
  std::vector<Measurement> found;
  int step = 0;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
    Measurement& m = found.emplace_back();
    int column = 0;
    for (std::string* text : {&m.kernel, &m.target, &m.driver, &m.key, &m.directives}) {
      *text = TextOf(statement, column++);
    }
    m.outcome = static_cast<Outcome>(sqlite3_column_int(statement, column++));
    for (double* number : {&m.predicted_seconds, &m.seconds, &m.first_seconds}) {
      *number = sqlite3_column_double(statement, column++);
    }
    m.what = TextOf(statement, column);
  }
  const absl::Status status = step == SQLITE_DONE ? absl::OkStatus() : Error("read");
  sqlite3_reset(statement);
  if (!status.ok()) return status;
  return found;
}

absl::StatusOr<std::vector<Measurement>> SqliteRecord::Of(const std::string& kernel,
                                                          const std::string& target,
                                                          const std::string& driver) {
  const std::lock_guard lock(mutex_);
  int index = 0;
  for (const std::string* text : {&kernel, &target, &driver}) Bind(of_, ++index, *text);
  return Read(of_);
}

absl::StatusOr<std::vector<Measurement>> SqliteRecord::All() {
  const std::lock_guard lock(mutex_);
  return Read(all_);
}

absl::Status SqliteRecord::AddKernel(const RecordedKernel& kernel) {
  const std::lock_guard lock(mutex_);
  int index = 0;
  for (const std::string* text : {&kernel.kernel, &kernel.name, &kernel.module}) {
    Bind(add_kernel_, ++index, *text);
  }
  absl::Status status =
      sqlite3_step(add_kernel_) == SQLITE_DONE ? absl::OkStatus() : Error("write");
  sqlite3_reset(add_kernel_);
  return status;
}

absl::StatusOr<std::vector<RecordedKernel>> SqliteRecord::Kernels() {
  const std::lock_guard lock(mutex_);
  std::vector<RecordedKernel> found;
  int step = 0;
  while ((step = sqlite3_step(kernels_)) == SQLITE_ROW) {
    found.push_back({TextOf(kernels_, 0), TextOf(kernels_, 1), TextOf(kernels_, 2)});
  }
  const absl::Status status = step == SQLITE_DONE ? absl::OkStatus() : Error("read");
  sqlite3_reset(kernels_);
  if (!status.ok()) return status;
  return found;
}

}  // namespace tg::search
