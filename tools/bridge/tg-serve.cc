// tg-serve: compiles and runs modules for another process, over its standard input and output. One
// device context lives as long as the process, so that a run costs no start.
//
// Requests and answers are lines; raw bytes follow a line that gives their number. Numbers are
// decimal.
//
//   print BYTES PIPELINE, the text     ok BYTES and the module as text, after these passes
//   compile BYTES PIPELINE, the text   ok ID KERNELS
//   kernels ID VARS                    ok KERNELS
//     then NAME VALUE a variable         then NAME OPS TRAFFIC and six sizes a kernel, BYTES, and
//                                        its source
//   run ID VARS INPUTS OUTPUTS,        ok KERNELS OPS
//     then NAME VALUE a variable,        then BYTES an output, and its bytes
//     NAME BYTES and the bytes an input,
//     NAME an output
//   drop ID                            ok
//
// PIPELINE is as for tg-opt's --pass, without spaces. `error BYTES` and a message answer a request
// that failed; a truncated or unknown request ends the process with exit code 1. KERNELS
// is the number of kernels of the module, or of a run of its graph; OPS is their arithmetic,
// TRAFFIC their global memory traffic in bytes (runtime/plan/kernel_stats.h). The sizes are
// work-groups and work-items a group, dimension 0 first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/text/diagnostic.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/pipeline_text.h"
#include "runtime/devices/devices.h"
#include "runtime/plan/kernel_stats.h"
#include "runtime/session/device_kernels.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/device_target.h"
#include "runtime/session/session.h"
#include "runtime/session/tensors.h"
#include "tools/driver/input.h"
#include "tools/driver/out_of_memory.h"

namespace tg::bridge {
namespace {

using runtime::HostTensor;

constexpr char kTool[] = "tg-serve";

absl::StatusOr<std::string> ReadLine() {
  std::string line;
  if (!std::getline(std::cin, line)) return InvalidArgument("the request is cut off");
  return line;
}

// Reads `count` bytes into `to`, which is empty. The announced bytes may never arrive, so memory
// grows only as they do.
template <typename Bytes>
bool ReadBytes(size_t count, Bytes& to) {
  constexpr size_t kFirst = size_t{1} << 20;
  while (to.size() < count) {
    const size_t begin = to.size();
    const size_t piece = std::min(count - begin, std::max(begin, kFirst));
    to.resize(begin + piece);
    if (!std::cin.read(reinterpret_cast<char*>(to.data() + begin),
                       static_cast<std::streamsize>(piece))) {
      return false;
    }
  }
  return true;
}

absl::Status NoRequest(std::string_view line) {
  return InvalidArgument("no request: '", line, "'");
}

absl::StatusOr<std::pair<std::string, int64_t>> ReadVar() {
  TG_ASSIGN_OR_RETURN(const std::string line, ReadLine());
  std::istringstream words(line);
  std::pair<std::string, int64_t> var;
  if (!(words >> var.first >> var.second)) return NoRequest(line);
  return var;
}

struct RunRequest {
  int64_t id = 0;
  std::vector<std::pair<std::string, int64_t>> vars;
  std::vector<std::pair<std::string, std::vector<std::byte>>> inputs;
  std::vector<std::string> outputs;
};

class Server {
 public:
  absl::Status Open() {
    TG_ASSIGN_OR_RETURN(device_, runtime::ChooseDevice(""));
    TG_ASSIGN_OR_RETURN(context_, runtime::OpenContext(device_, /*profiling=*/false));
    return absl::OkStatus();
  }

  // Serves requests until the input ends or a request is invalid.
  absl::Status Serve() {
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      absl::StatusOr<std::string> answer;
      if (verb == "compile" || verb == "print") {
        size_t bytes = 0;
        std::string pipeline;
        if (!(words >> bytes >> pipeline)) return NoRequest(line);
        std::string text;
        if (!ReadBytes(bytes, text)) return InvalidArgument("the text is cut off");
        answer = verb == "print" ? Print(text, pipeline) : Compile(text, pipeline);
      } else if (verb == "kernels") {
        int64_t id = 0;
        size_t vars = 0;
        if (!(words >> id >> vars)) return NoRequest(line);
        runtime::VarMap values;
        for (size_t i = 0; i < vars; ++i) {
          TG_ASSIGN_OR_RETURN(const auto var, ReadVar());
          values.insert(var);
        }
        answer = Kernels(id, values);
      } else if (verb == "run") {
        RunRequest request;
        TG_RETURN_IF_ERROR(ReadRun(words, request));
        answer = Run(request);
      } else if (verb == "drop") {
        int64_t id = 0;
        if (!(words >> id)) return NoRequest(line);
        sessions_.erase(id);
        answer = "ok\n";
      } else {
        return NoRequest(line);
      }
      if (answer.ok()) {
        std::cout << *answer << std::flush;
      } else {
        const std::string message(answer.status().message());
        std::cout << "error " << message.size() << "\n" << message << std::flush;
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Passed {
    std::unique_ptr<Module> module;
    passes::Target target;
  };
  absl::StatusOr<Passed> RunPasses(const std::string& text, std::string_view pipeline) {
    Diagnostics diagnostics;
    Passed out;
    out.module = model::ReadInput(text, "<request>", "auto", diagnostics);
    if (!out.module) return diagnostics.ToStatus();
    TG_ASSIGN_OR_RETURN(out.target, runtime::ChooseTarget("", out.module->target, device_.info));
    const passes::PassRegistry registry = passes::MakeRegistry({});
    TG_ASSIGN_OR_RETURN(passes::Pipeline steps,
                        passes::ParsePipeline(pipeline, registry, passes::kPipeline));
    passes::PassManagerOptions passes;
    passes.target = &out.target;
    TG_RETURN_IF_ERROR(passes::PassManager(std::move(steps), passes).Run(*out.module));
    return out;
  }

  absl::StatusOr<std::string> Print(const std::string& text, std::string_view pipeline) {
    TG_ASSIGN_OR_RETURN(const Passed passed, RunPasses(text, pipeline));
    const std::string printed = PrintModule(*passed.module);
    return Cat("ok ", printed.size(), "\n", printed);
  }

  absl::StatusOr<std::string> Compile(const std::string& text, std::string_view pipeline) {
    TG_ASSIGN_OR_RETURN(Passed passed, RunPasses(text, pipeline));
    std::unique_ptr<Module> module = std::move(passed.module);
    runtime::DeviceSessionOptions options;
    options.context = context_;
    options.target = std::move(passed.target);
    size_t kernels = 0;
    for (const auto& graph : module->graphs) {
      for (const UOp* u : PostOrder(graph->body.root)) kernels += u->op == Op::kKernel;
    }
    TG_ASSIGN_OR_RETURN(sessions_[next_id_],
                        runtime::DeviceSession::Create(std::move(module), std::move(options)));
    return Cat("ok ", next_id_++, " ", kernels, "\n");
  }

  absl::StatusOr<std::string> Kernels(int64_t id, const runtime::VarMap& vars) {
    TG_ASSIGN_OR_RETURN(const runtime::DeviceSession* session, Find(id));
    const auto var = [&](std::string_view name) {
      const auto found = vars.find(name);
      return found == vars.end() ? int64_t{0} : found->second;
    };
    const runtime::DeviceKernels& built = *session->devices().front();
    std::string answer = Cat("ok ", built.kernels().size(), "\n");
    for (const runtime::CompiledKernel& compiled : built.kernels()) {
      const codegen::RenderedKernel& kernel = compiled.code;
      const Kernel& linear = *session->module().kernels[static_cast<size_t>(compiled.kernel)];
      TG_ASSIGN_OR_RETURN(const runtime::KernelWork work, runtime::CountWork(linear, var));
      answer += Cat(kernel.name, " ", static_cast<int64_t>(work.ops), " ",
                    static_cast<int64_t>(work.load_bytes + work.store_bytes));
      for (const codegen::SizeExpr& groups : kernel.groups)
        answer += Cat(" ", groups.Evaluate(var));
      for (const int64_t local : kernel.local) answer += Cat(" ", local);
      answer += Cat(" ", kernel.source.size(), "\n", kernel.source);
    }
    return answer;
  }

  absl::StatusOr<runtime::DeviceSession*> Find(int64_t id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return NotFound("there is no module ", id);
    return found->second.get();
  }

  static absl::Status ReadRun(std::istringstream& head, RunRequest& request) {
    size_t vars = 0, inputs = 0, outputs = 0;
    if (!(head >> request.id >> vars >> inputs >> outputs)) return NoRequest(head.str());
    for (size_t i = 0; i < vars; ++i) {
      TG_ASSIGN_OR_RETURN(request.vars.emplace_back(), ReadVar());
    }
    for (size_t i = 0; i < inputs; ++i) {
      TG_ASSIGN_OR_RETURN(const std::string line, ReadLine());
      std::istringstream words(line);
      auto& [name, data] = request.inputs.emplace_back();
      size_t bytes = 0;
      if (!(words >> name >> bytes)) return NoRequest(line);
      if (!ReadBytes(bytes, data)) {
        return InvalidArgument("input ", name, " is cut off");
      }
    }
    for (size_t i = 0; i < outputs; ++i) {
      TG_ASSIGN_OR_RETURN(request.outputs.emplace_back(), ReadLine());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Run(RunRequest& request) {
    TG_ASSIGN_OR_RETURN(runtime::DeviceSession* const found, Find(request.id));
    runtime::DeviceSession& session = *found;
    for (const auto& [name, value] : request.vars) {
      if (session.declarations().FindVar(name) == nullptr)
        continue;  // the graph does not depend on it
      TG_RETURN_IF_ERROR(session.SetVar(name, value));
    }
    for (auto& [name, data] : request.inputs) {
      const BufferDecl* buffer = session.declarations().FindBuffer(name);
      if (buffer == nullptr) continue;  // the program does not read it
      HostTensor tensor;
      TG_ASSIGN_OR_RETURN(tensor.shape, runtime::ShapeOf(*buffer, {}));
      tensor.type = runtime::ElementTypeOf(buffer->dtype.scalar()).value();
      tensor.data = std::move(data);
      if (tensor.data.size() != runtime::NumBytes(tensor.type, tensor.shape)) {
        return InvalidArgument("input ", name, " has ", tensor.data.size(), " bytes");
      }
      TG_RETURN_IF_ERROR(session.Set(name, tensor));
    }
    TG_RETURN_IF_ERROR(session.Run());
    double ops = 0;
    for (const runtime::PlannedKernel& kernel : session.last_plan()->kernels()) {
      ops += kernel.work.ops;
    }
    std::string answer =
        Cat("ok ", session.last_plan()->kernels().size(), " ", static_cast<int64_t>(ops), "\n");
    for (const std::string& name : request.outputs) {
      TG_ASSIGN_OR_RETURN(const HostTensor tensor, session.Get(name));
      answer += Cat(tensor.data.size(), "\n");
      answer.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    }
    return answer;
  }

  runtime::Device device_;
  std::shared_ptr<runtime::Context> context_;
  int64_t next_id_ = 0;
  std::map<int64_t, std::unique_ptr<runtime::DeviceSession>> sessions_;
};

int Main() {
  driver::ExitWhenOutOfMemory(kTool);
  std::ios::sync_with_stdio(false);
  Server server;
  absl::Status status = server.Open();
  if (status.ok()) status = server.Serve();
  if (status.ok()) return 0;
  std::cerr << kTool << ": " << std::string(status.message()) << "\n";
  return 1;
}

}  // namespace
}  // namespace tg::bridge

int main() { return tg::bridge::Main(); }
