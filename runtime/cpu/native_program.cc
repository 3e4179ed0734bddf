#include "runtime/cpu/native_program.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include "base/status.h"
#include "codegen/llvm/kernel_function.h"
#include "runtime/cpu/code_generator.h"
#include "runtime/cpu/launch_choice.h"
#include "runtime/cpu/native_context.h"
#include "runtime/cpu/object_code.h"
#include "runtime/cpu/processor.h"
#include "runtime/cpu/worker_pool.h"

namespace tg::cpu {

using runtime::Context;
using runtime::DiskCache;
using runtime::Event;
using runtime::FinishedEvent;
using runtime::HostNanos;
using runtime::KernelObject;
using runtime::LaunchTimes;
using runtime::Memory;
using runtime::NDRange;
using runtime::Program;
using runtime::Span;
using runtime::SpanLog;

namespace {

// A kernel that is ready to be called.
struct Compiled {
  std::shared_ptr<const ObjectCode> code;
  llvm_ir::KernelFunction function = nullptr;
  size_t scratch_bytes = 0;
  std::array<size_t, 3> local = {1, 1, 1};
  std::vector<int> scalar_bytes;  // by parameter; 0 for a buffer
};

class NativeKernelObject : public KernelObject {
 public:
  NativeKernelObject(const Compiled& compiled, std::string label, bool profiling)
      : compiled_(compiled),
        label_(std::move(label)),
        profiling_(profiling),
        arguments_(compiled.scalar_bytes.size()) {}

  size_t num_args() const override { return arguments_.size(); }
  std::optional<std::array<size_t, 3>> fixed_group() const override { return compiled_.local; }
  size_t max_group_size() const override { return SIZE_MAX; }
  uint64_t local_memory() const override { return 0; }  // it is a part of the scratch

  absl::Status SetMemory(size_t index, const Memory& memory) override {
    if (compiled_.scalar_bytes[index] != 0) return WrongKind(index);
    arguments_[index] = AddressOf(memory);
    return absl::OkStatus();
  }
  absl::Status SetLocal(size_t index, size_t) override { return WrongKind(index); }
  absl::Status SetScalar(size_t index, std::span<const std::byte> value) override {
    if (static_cast<size_t>(compiled_.scalar_bytes[index]) != value.size()) return WrongKind(index);
    uintptr_t word = 0;
    std::memcpy(&word, value.data(), value.size());
    arguments_[index] = reinterpret_cast<const void*>(word);
    return absl::OkStatus();
  }

  absl::Status Enqueue(const NDRange& range, Event* event,
                       std::span<const Event> waits) const override {
    for (const Event& wait : waits) {
      if (wait != nullptr) TG_RETURN_IF_ERROR(wait->Wait());
    }
    if (event == nullptr) {
      Run(range);
      return absl::OkStatus();
    }
    LaunchTimes times;
    times.queued = times.submitted = times.started = static_cast<uint64_t>(HostNanos());
    Run(range);
    times.ended = static_cast<uint64_t>(HostNanos());
    *event = FinishedEvent(profiling_ ? std::optional(times) : std::nullopt);
    return absl::OkStatus();
  }

 private:
  absl::Status WrongKind(size_t index) const {
    return InvalidArgument("kernel @", label_, ": argument ", index, " is of another kind");
  }

  void Run(const NDRange& range) const {
    int64_t groups[3];
    for (size_t d = 0; d < 3; ++d) {
      groups[d] = static_cast<int64_t>(range.global[d] / range.local[d]);
    }
    const auto run = [&](int64_t begin, int64_t end) {
      void* scratch = ThreadScratch(compiled_.scratch_bytes);
      int64_t x = begin % groups[0], y = begin / groups[0] % groups[1],
              z = begin / groups[0] / groups[1];
      for (int64_t i = begin; i < end; ++i) {
        compiled_.function(arguments_.data(), scratch, x, y, z);
        if (++x < groups[0]) continue;
        x = 0;
        if (++y < groups[1]) continue;
        y = 0;
        ++z;
      }
    };
    WorkerPool& workers = SharedWorkers();
    const int64_t count = groups[0] * groups[1] * groups[2];
    if (count <= 1 || workers.threads() == 1) {
      if (count > 0) run(0, count);
      return;
    }
    choice_.Begin(count);
    const bool is_measured = choice_.IsMeasured();
    const int64_t start = is_measured ? HostNanos() : 0;
    if (choice_.IsShared()) {
      workers.Run(count, run);
    } else {
      run(0, count);
    }
    if (is_measured) choice_.Add(HostNanos() - start);
  }

  const Compiled& compiled_;  // its program keeps it
  std::string label_;
  bool profiling_;
  std::vector<const void*> arguments_;
  mutable LaunchChoice choice_;  // one thread at a time uses a kernel object
};

class NativeProgram : public Program {
 public:
  NativeProgram(std::shared_ptr<Context> context, bool from_cache,
                std::map<std::string, Compiled, std::less<>> kernels)
      : Program(std::move(context), from_cache), kernels_(std::move(kernels)) {}

  absl::StatusOr<std::unique_ptr<KernelObject>> NewKernel(const std::string& name,
                                                          const std::string& label) const override {
    const auto found = kernels_.find(name);
    if (found == kernels_.end()) {
      std::string list;
      for (const auto& [known, kernel] : kernels_) list += Cat(list.empty() ? "" : ", ", known);
      return NotFound("no kernel '", name, "' in the program for ", context()->name(), "; it has ",
                      list);
    }
    return std::make_unique<NativeKernelObject>(found->second, label, context()->profiling());
  }

 private:
  std::map<std::string, Compiled, std::less<>> kernels_;
};

absl::StatusOr<Compiled> Ready(const codegen::RenderedKernel& kernel, std::string_view object) {
  Compiled compiled;
  TG_ASSIGN_OR_RETURN(compiled.code, ObjectCode::Load(object));
  // Functions are not const, whatever the code is that they are found in.
  compiled.function = reinterpret_cast<llvm_ir::KernelFunction>(
      const_cast<void*>(compiled.code->Find(kernel.name)));
  if (compiled.function == nullptr) {
    return InvalidArgument("the object file lacks kernel @", kernel.name);
  }
  compiled.scratch_bytes = static_cast<size_t>(kernel.group_memory);
  std::copy_n(kernel.local, 3, compiled.local.begin());
  for (const codegen::KernelParam& p : kernel.params) {
    compiled.scalar_bytes.push_back(p.is_var ? static_cast<int>(ByteSize(p.dtype.scalar())) : 0);
  }
  return compiled;
}

// Kernels with their objects, in the given order.
struct CompiledKernels {
  std::vector<Compiled> kernels;
  std::vector<std::string> objects;
  bool from_cache = true;
};

absl::StatusOr<CompiledKernels> CompileAll(std::span<const NativeKernel> kernels, DiskCache* cache,
                                           SpanLog* spans) {
  std::vector<absl::StatusOr<Compiled>> compiled(kernels.size());
  std::vector<std::string> objects(kernels.size());
  std::vector<Span> times(kernels.size());
  std::atomic<bool> from_cache = true;
  const bool all_known = std::all_of(kernels.begin(), kernels.end(),
                                     [](const NativeKernel& k) { return !k.object.empty(); });
  const std::string machine = cache == nullptr || all_known ? "" : CodeGeneratorKey();
  const auto build = [&](size_t i) {
    const codegen::RenderedKernel& kernel = *kernels[i].kernel;
    if (!kernels[i].object.empty()) {
      objects[i] = kernels[i].object;
      compiled[i] = Ready(kernel, objects[i]);
      return;
    }
    const std::string& text = kernel.source;
    const std::string key = cache == nullptr ? "" : Cat("tg machine code 1\n", machine, "\n", text);
    if (cache != nullptr) {
      if (auto object = cache->Load(key); object.has_value()) {
        compiled[i] = Ready(kernel, *object);
        objects[i] = *std::move(object);
        if (compiled[i].ok()) return;
        cache->Remove(key);
      }
    }
    from_cache = false;
    times[i] = {.name = kernel.name, .start = HostNanos(), .is_detail = true};
    absl::StatusOr<std::string> object = Compile(text, Output::kObject);
    times[i].end = HostNanos();
    if (!object.ok()) {
      compiled[i] = object.status();
      return;
    }
    compiled[i] = Ready(kernel, *object);
    if (compiled[i].ok() && cache != nullptr) cache->Store(key, *object);
    objects[i] = *std::move(object);
  };
  // The largest first, so that none of them is left for the end.
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return kernels[a].kernel->source.size() > kernels[b].kernel->source.size();
  });
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < order.size();) build(order[i]);
  };
  std::vector<std::thread> threads;
  const size_t processors =
      all_known ? 1 : std::min<size_t>(static_cast<size_t>(UsableProcessors()), order.size());
  while (threads.size() + 1 < processors) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  CompiledKernels out;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!compiled[i].ok()) {
      return absl::Status(compiled[i].status().code(),
                          Cat("kernel @", kernels[i].kernel->name, ": ",
                              std::string(compiled[i].status().message())));
    }
    out.kernels.push_back(*std::move(compiled[i]));
    if (spans != nullptr && times[i].end > 0) spans->push_back(std::move(times[i]));
  }
  out.objects = std::move(objects);
  out.from_cache = from_cache;
  return out;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> BuildNative(std::shared_ptr<Context> context,
                                                           std::span<const NativeKernel> kernels,
                                                           DiskCache* cache, SpanLog* spans) {
  TG_ASSIGN_OR_RETURN(CompiledKernels all, CompileAll(kernels, cache, spans));
  std::map<std::string, Compiled, std::less<>> ready;
  size_t scratch_bytes = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    scratch_bytes = std::max(scratch_bytes, all.kernels[i].scratch_bytes);
    ready.emplace(kernels[i].kernel->name, std::move(all.kernels[i]));
  }
  // A launch allocates nothing.
  SharedWorkers().ReserveScratch(scratch_bytes);
  return std::make_shared<const NativeProgram>(std::move(context), all.from_cache,
                                               std::move(ready));
}

absl::StatusOr<std::vector<std::string>> CompileNative(std::span<const NativeKernel> kernels,
                                                       DiskCache* cache, SpanLog* spans) {
  TG_ASSIGN_OR_RETURN(CompiledKernels all, CompileAll(kernels, cache, spans));
  return std::move(all.objects);
}

}  // namespace tg::cpu
