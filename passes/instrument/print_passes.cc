#include "passes/instrument/print_passes.h"

#include <cstdio>
#include <utility>

#include "ir/text/printer.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/text_diff.h"
#include "passes/instrument/write_file.h"

namespace tg::instrument {
namespace {

class Printer : public passes::PassObserver {
 public:
  Printer(PrintPassesOptions options, llvm::raw_ostream& out)
      : options_(std::move(options)), out_(out) {}

  absl::Status Start(const passes::Pipeline&, const Module& module) override {
    if (options_.changed) text_ = PrintModule(module);
    return absl::OkStatus();
  }

  absl::Status BeforePass(const passes::PassRun& run, const Module& module) override {
    if (options_.before.Contains(run.step().pass->name)) Print("before ", run, PrintModule(module));
    return absl::OkStatus();
  }

  absl::Status AfterPass(const passes::PassRun& run, const Module& module) override {
    const bool print = options_.after.Contains(run.step().pass->name);
    if (!print && !options_.changed) return absl::OkStatus();
    std::string text = PrintModule(module);
    if (options_.changed) PrintChange(run, text);
    if (print) Print("after ", run, text);
    text_ = std::move(text);
    return absl::OkStatus();
  }

  // The module after a failed pass may be invalid, but it can be printed.
  std::string Failed(const passes::PassRun& run, const Module& module,
                     const absl::Status&) override {
    if (options_.after.Contains(run.step().pass->name)) {
      Print("after the failing ", run, PrintModule(module));
    }
    return "";
  }

 private:
  void Print(const char* when, const passes::PassRun& run, const std::string& text) {
    out_ << "// " << when << run.Title() << "\n" << text;
    out_.flush();
  }

  void PrintChange(const passes::PassRun& run, const std::string& text) {
    const std::string before = "before " + run.Title(), after = "after " + run.Title();
    const std::string diff = UnifiedDiff(text_, text, {before, after, 3, options_.color});
    if (diff.empty()) {
      out_ << "// " << run.Title() << " changed nothing\n";
    } else {
      out_ << diff;
    }
    out_.flush();
  }

  const PrintPassesOptions options_;
  llvm::raw_ostream& out_;
  std::string text_;  // the module after the last pass; used only to print changes
};

class Dumper : public passes::PassObserver {
 public:
  explicit Dumper(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Start(const passes::Pipeline&, const Module& module) override {
    if (absl::Status status = MakeFolder(folder_); !status.ok()) return status;
    return Write(0, "input", module);
  }
  absl::Status AfterPass(const passes::PassRun& run, const Module& module) override {
    return Write(run.index + 1, run.step().pass->name, module);
  }

 private:
  absl::Status Write(size_t number, std::string_view stage, const Module& module) {
    char prefix[24];
    std::snprintf(prefix, sizeof prefix, "%02zu-", number);
    return WriteFile(folder_ + "/" + prefix + std::string(stage) + ".uop", PrintModule(module));
  }

  const std::string folder_;
};

}  // namespace

std::unique_ptr<passes::PassObserver> PrintPasses(PrintPassesOptions options,
                                                  llvm::raw_ostream& out) {
  return std::make_unique<Printer>(std::move(options), out);
}

std::unique_ptr<passes::PassObserver> DumpPasses(std::string folder) {
  return std::make_unique<Dumper>(std::move(folder));
}

}  // namespace tg::instrument
