#include "passes/instrument/reproducer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "base/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "passes/instrument/write_file.h"

namespace tg::instrument {
namespace {

// The data that the signal handler writes. It is prepared before each pass, because the handler
// must not allocate memory.
struct CrashRecord {
  std::string path, header, message;
  std::string_view text;
};
std::atomic<const CrashRecord*> g_crash_record{nullptr};

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

void OnSignal(void*) {
  // Only the first crash is of interest, not one in this handler.
  const CrashRecord* record = g_crash_record.exchange(nullptr);
  if (!record) return;
  const int fd = ::open(record->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  WriteAll(fd, record->header);
  WriteAll(fd, record->text);
  ::close(fd);
  WriteAll(STDERR_FILENO, record->message);
}

// Quotes the word if a shell would not read it as one word.
std::string ShellWord(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-+=:,./@%") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string CommentLines(std::string_view text) {
  std::string comment;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    comment += "// " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return comment;
}

class Reproducer : public passes::PassObserver {
 public:
  explicit Reproducer(ReproducerOptions options) : options_(std::move(options)) {}
  ~Reproducer() override { Disarm(); }

  absl::Status Start(const passes::Pipeline&, const Module& module) override {
    module_name_ = module.name;
    file_name_ = module.path;
    text_ = options_.input;
    if (text_.empty()) {
      printed_ = PrintModule(module);
      text_ = printed_;
    }
    return absl::OkStatus();
  }

  absl::Status BeforePass(const passes::PassRun& run, const Module&) override {
    record_.path = options_.path;
    if (!options_.on_signal) return absl::OkStatus();
    if (record_.path.empty()) record_.path = NewPath(run);
    const std::string pipeline =
        passes::PrintPipeline(std::span(run.pipeline).first(run.index + 1));
    record_.header = Header("crashed in " + run.Title(), pipeline);
    record_.message = "reproducer: " + record_.path + "\n";
    record_.text = text_;
    static const bool installed = (llvm::sys::AddSignalHandler(OnSignal, nullptr), true);
    TG_CHECK(installed);
    g_crash_record.store(&record_);
    return absl::OkStatus();
  }

  absl::Status AfterPass(const passes::PassRun&, const Module&) override {
    Disarm();
    return absl::OkStatus();
  }

  std::string Failed(const passes::PassRun& run, const Module&,
                     const absl::Status& status) override {
    Disarm();
    if (record_.path.empty()) record_.path = NewPath(run);
    const std::string message(status.message());
    // The module before this pass, computed again; if that fails, the input of the pipeline.
    std::string text = TextBefore(run);
    std::string pipeline = passes::PrintStep(run.step());
    if (text.empty()) {
      text = std::string(text_);
      pipeline = passes::PrintPipeline(std::span(run.pipeline).first(run.index + 1));
    }
    const absl::Status written = WriteFile(record_.path, Header(message, pipeline) + text);
    return written.ok() ? "\nreproducer: " + record_.path
                        : "\nno reproducer: " + std::string(written.message());
  }

  void Finish() override { Disarm(); }

 private:
  static void Disarm() { g_crash_record.store(nullptr); }

  std::string Header(const std::string& message, const std::string& pipeline) const {
    return CommentLines(message) + "// Repeat with: " + options_.command + " " +
           ShellWord("--pass=" + pipeline) + " " + ShellWord(record_.path) + "\n";
  }

  std::string NewPath(const passes::PassRun& run) const {
    llvm::SmallString<128> folder, path;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    llvm::sys::path::append(
        folder, "tg-" + module_name_ + "-" + std::string(run.step().pass->name) + "-%%%%%%.uop");
    llvm::sys::fs::createUniquePath(folder, path, /*MakeAbsolute=*/false);
    return std::string(path.str());
  }

  std::string TextBefore(const passes::PassRun& run) const {
    Diagnostics diagnostics;
    const std::unique_ptr<Module> module = ParseModule(text_, file_name_, diagnostics);
    if (!module) return "";
    passes::PassManagerOptions options;
    options.verify_each = false;
    options.target = &run.target;
    passes::PassManager manager(
        passes::Pipeline(run.pipeline.begin(), run.pipeline.begin() + run.index), options);
    return manager.Run(*module).ok() ? PrintModule(*module) : "";
  }

  const ReproducerOptions options_;
  std::string module_name_, file_name_;
  std::string printed_;
  std::string_view text_;
  CrashRecord record_;
};

}  // namespace

std::unique_ptr<passes::PassObserver> WriteReproducer(ReproducerOptions options) {
  return std::make_unique<Reproducer>(std::move(options));
}

}  // namespace tg::instrument
