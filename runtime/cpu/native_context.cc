#include "runtime/cpu/native_context.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "runtime/cpu/code_generator.h"
#include "runtime/cpu/processor.h"
#include "runtime/device/transfer.h"

namespace tg::cpu {

using runtime::Buffer;
using runtime::Context;
using runtime::Device;
using runtime::DeviceInfo;
using runtime::DeviceKind;
using runtime::Event;
using runtime::FinishedEvent;
using runtime::Memory;
using runtime::NewHostTransfer;
using runtime::TransferCommands;

namespace {

class NativeMemory : public Memory {
 public:
  explicit NativeMemory(size_t bytes) {
    // Large pages spare address translations. They are asked for where memory has several of them.
    constexpr size_t kLargePage = size_t{2} << 20, kLine = 64;
    const size_t alignment = bytes >= 2 * kLargePage ? kLargePage : kLine;
    if (bytes > SIZE_MAX - alignment) return;
    const size_t size = (bytes + alignment - 1) / alignment * alignment;
    own_ = address_ = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
    if (address_ != nullptr && alignment == kLargePage) madvise(address_, size, MADV_HUGEPAGE);
  }
  // A part of other memory.
  explicit NativeMemory(std::byte* address) : address_(address) {}
  ~NativeMemory() override { std::free(own_); }

  std::byte* address() const { return address_; }

  // Makes the first `bytes` bytes zeros. Whole pages of owned memory are given back, and are
  // zeros when they are next used.
  void Clear(size_t bytes) const {
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    constexpr size_t kMinBytes = size_t{1} << 20;
    const auto begin = reinterpret_cast<uintptr_t>(address_);
    const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
    if (own_ == nullptr || bytes < kMinBytes ||
        madvise(address_ + (first - begin), last - first, MADV_DONTNEED) != 0) {
      std::memset(address_, 0, bytes);
      return;
    }
    std::memset(address_, 0, first - begin);
    std::memset(address_ + (last - begin), 0, begin + bytes - last);
  }

 private:
  std::byte *own_ = nullptr, *address_ = nullptr;
};

class NativeContext : public Context {
 public:
  NativeContext(const Device& device, bool profiling) : Context(device, profiling) {}

  bool SharesWith(const Context& other) const override { return other.info().is_native; }

  absl::StatusOr<std::unique_ptr<Memory>> Allocate(size_t bytes) const override {
    if (bytes <= info().max_allocation) {
      auto memory = std::make_unique<NativeMemory>(bytes);
      if (memory->address() != nullptr) return std::unique_ptr<Memory>(std::move(memory));
    }
    return absl::ResourceExhaustedError(Cat("a buffer of ", bytes, " bytes on ", name()));
  }
  std::unique_ptr<Memory> Borrow(std::span<const std::byte> bytes) const override {
    return std::make_unique<NativeMemory>(const_cast<std::byte*>(bytes.data()));
  }
  absl::StatusOr<std::unique_ptr<Memory>> Part(const Memory& parent, size_t offset,
                                               size_t) const override {
    return std::make_unique<NativeMemory>(AddressOf(parent) + offset);
  }
  absl::Status Write(const Memory& to, size_t offset,
                     std::span<const std::byte> data) const override {
    std::memcpy(AddressOf(to) + offset, data.data(), data.size());
    return absl::OkStatus();
  }
  absl::Status Read(const Memory& from, size_t offset, std::span<std::byte> data) const override {
    const std::byte* address = AddressOf(from) + offset;
    // The memory may be the caller's (Borrow).
    if (address != data.data()) std::memcpy(data.data(), address, data.size());
    return absl::OkStatus();
  }
  absl::Status Copy(const Memory& from, size_t from_offset, const Memory& to, size_t to_offset,
                    size_t bytes) const override {
    std::memcpy(AddressOf(to) + to_offset, AddressOf(from) + from_offset, bytes);
    return absl::OkStatus();
  }
  absl::Status Fill(const Memory& memory, size_t bytes, std::byte value) const override {
    if (value == std::byte{0}) {
      static_cast<const NativeMemory&>(memory).Clear(bytes);
      return absl::OkStatus();
    }
    std::memset(AddressOf(memory), static_cast<int>(value), bytes);
    return absl::OkStatus();
  }
  std::byte* HostAddress(const Memory& memory) const override { return AddressOf(memory); }
  absl::StatusOr<std::unique_ptr<TransferCommands>> NewTransfer(std::shared_ptr<const Buffer> from,
                                                                std::shared_ptr<const Buffer> to,
                                                                size_t bytes) const override {
    return NewHostTransfer(std::move(from), std::move(to), bytes);
  }
  absl::Status Finish() const override { return absl::OkStatus(); }
  absl::Status Flush() const override { return absl::OkStatus(); }
  absl::Status EnqueueMarker(Event* event) const override {
    *event = FinishedEvent(std::nullopt);
    return absl::OkStatus();
  }
  absl::Status EnqueueBarrier(std::span<const Event> waits) const override {
    for (const Event& wait : waits) {
      if (wait != nullptr) TG_RETURN_IF_ERROR(wait->Wait());
    }
    return absl::OkStatus();
  }
};

DeviceInfo Describe(const Processor& processor) {
  DeviceInfo info;
  info.name = processor.name;
  info.platform = "native";
  info.vendor = "tg";
  info.device_version = processor.vector_bytes >= 64 ? "AVX-512" : "AVX2";
  info.kind = DeviceKind::kCpu;
  info.is_native = true;
  info.byte_dots = processor.byte_dots;
  info.fp64 = info.int64 = info.exact_divide = true;
  const auto page = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  info.global_memory = page * static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  info.max_allocation = info.global_memory;
  info.local_memory = uint64_t{1} << 20;
  info.global_cache = static_cast<uint64_t>(processor.l3_bytes);
  info.near_cache = processor.l1_bytes;
  info.near_cache_ways = processor.l1_ways;
  info.core_cache = processor.l2_bytes;
  info.shared_cache = processor.l3_bytes;
  info.max_work_group_size = 4096;
  info.max_work_item_sizes = {4096, 4096, 4096};
  info.compute_units = static_cast<uint32_t>(UsableProcessors());
  info.base_alignment = 1;
  info.parts_are_free = true;
  const auto bytes = static_cast<uint32_t>(processor.vector_bytes);
  info.native = {bytes, bytes / 2, bytes / 4, bytes / 8, 0, bytes / 4, bytes / 8};
  info.preferred = info.native;
  return info;
}

}  // namespace

std::byte* AddressOf(const Memory& memory) {
  return static_cast<const NativeMemory&>(memory).address();
}

std::vector<Device> ListNativeDevices(bool to_compile) {
  const Processor& processor = ThisProcessor();
  if (!processor.is_supported || (to_compile && !HasCodeGenerator())) return {};
  const char* wanted = std::getenv("TG_CPU_DEVICES");
  const int number = std::clamp(wanted == nullptr ? 1 : std::atoi(wanted), 1, 64);
  std::vector<Device> devices(static_cast<size_t>(number));
  for (size_t i = 0; i < devices.size(); ++i) {
    devices[i].index = static_cast<int>(i);
    devices[i].info = Describe(processor);
  }
  return devices;
}

std::shared_ptr<Context> OpenNative(const Device& device, bool profiling) {
  return std::make_shared<NativeContext>(device, profiling);
}

}  // namespace tg::cpu
