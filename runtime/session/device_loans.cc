// Memory of the host that a session on devices uses where it is.
#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "runtime/session/device_session.h"

namespace tg::runtime {

std::vector<bool> DeviceSession::FindLendable(const Executable& executable) {
  std::vector<bool> lendable;
  for (const BufferDecl& buffer : executable.buffers) {
    lendable.push_back(executable.devices.size() == 1 &&
                       (buffer.role == Role::kInput || buffer.role == Role::kOutput));
  }
  if (executable.devices.size() != 1) return lendable;
  std::vector<const CompiledKernel*> kernels(executable.kernel_names.size(), nullptr);
  for (const CompiledKernel& kernel : executable.devices[0].kernels) {
    kernels[static_cast<size_t>(kernel.kernel)] = &kernel;
  }
  const auto keep = [&](int buffer) { lendable[static_cast<size_t>(buffer)] = false; };
  const auto is_input = [&](const BufferSlice& slice) {
    return executable.buffers[static_cast<size_t>(slice.buffer)].role == Role::kInput;
  };
  for (const ScheduledGraph& graph : executable.graphs) {
    for (const ScheduledLoop& loop : graph.loops) {
      for (const auto& [first, second] : loop.pairs) {
        keep(first);
        keep(second);
      }
    }
    for (const ScheduledKernel& step : graph.steps) {
      const CompiledKernel* kernel =
          step.is_copy() ? nullptr : kernels[static_cast<size_t>(step.kernel)];
      if (kernel == nullptr) {
        for (const BufferSlice& slice : step.buffers) keep(slice.buffer);
        continue;
      }
      for (const codegen::KernelParam& param : kernel->code.params) {
        const auto slot = static_cast<size_t>(param.slot);
        if (param.is_var || slot >= step.buffers.size()) continue;
        if (param.writes && is_input(step.buffers[slot])) keep(step.buffers[slot].buffer);
      }
    }
  }
  return lendable;
}

bool DeviceSession::Adopt(const BufferDecl& buffer, std::span<const std::byte> bytes,
                          const std::shared_ptr<const void>& owner) {
  const auto device = by_name_.find(buffer.device);
  const auto index = static_cast<size_t>(&buffer - executable_->buffers.data());
  const bool is_loan = owner == nullptr;
  if (device == by_name_.end() || (is_loan ? !lendable_[index] : buffer.role != Role::kParam)) {
    return false;
  }
  const std::shared_ptr<Context>& context = device->second->context();
  std::unique_ptr<Memory> memory = context->Borrow(bytes);
  if (memory == nullptr) return false;
  if (is_loan) {
    TakeLoan(buffer, context, std::move(memory), bytes.size());
    return true;
  }
  borrowed_from_ = owner;
  buffers_[buffer.name] = std::make_shared<const Buffer>(context, std::move(memory), bytes.size(),
                                                         bytes.size(), /*owner=*/nullptr);
  ++buffers_version_;
  return true;
}

void DeviceSession::TakeLoan(const BufferDecl& buffer, const std::shared_ptr<Context>& context,
                             std::unique_ptr<Memory> memory, size_t bytes) {
  BufferRef& place = buffers_[buffer.name];
  own_buffers_[buffer.name] = std::move(place);
  place = std::make_shared<const Buffer>(context, std::move(memory), bytes, bytes,
                                         /*owner=*/nullptr);
  ++buffers_version_;
}

absl::StatusOr<BufferRef> DeviceSession::WrapFor(const BufferDecl& buffer, DeviceHandle memory,
                                                 size_t bytes, bool is_written) const {
  const auto device = by_name_.find(buffer.device);
  const std::shared_ptr<Context>& context =
      device != by_name_.end() ? device->second->context() : devices_[0]->context();
  absl::StatusOr<WrappedMemory> wrapped = context->Wrap(memory, is_written);
  if (!wrapped.ok()) {
    return InvalidArgument("@", buffer.name, ": ", std::string(wrapped.status().message()));
  }
  if (wrapped->bytes < bytes) {
    return InvalidArgument("@", buffer.name, ": the cl_mem has ", wrapped->bytes, " bytes, of ",
                           bytes);
  }
  return std::make_shared<const Buffer>(context, std::move(wrapped->memory), bytes, bytes,
                                        /*owner=*/nullptr);
}

absl::StatusOr<bool> DeviceSession::Adopt(const BufferDecl& buffer, DeviceHandle memory,
                                          size_t bytes) {
  const auto device = by_name_.find(buffer.device);
  const auto index = static_cast<size_t>(&buffer - executable_->buffers.data());
  if (device == by_name_.end() || !lendable_[index]) return false;
  const std::shared_ptr<Context>& context = device->second->context();
  absl::StatusOr<WrappedMemory> wrapped =
      context->Wrap(memory, /*is_written=*/buffer.role == Role::kOutput);
  if (!wrapped.ok()) {
    return InvalidArgument("@", buffer.name, ": ", std::string(wrapped.status().message()));
  }
  // What a run needs may be less than the greatest shape.
  if (wrapped->bytes < bytes) return false;
  TakeLoan(buffer, context, std::move(wrapped->memory), bytes);
  return true;
}

absl::Status DeviceSession::CopyFrom(const BufferDecl& buffer, DeviceHandle memory, size_t bytes) {
  TG_ASSIGN_OR_RETURN(const BufferRef from, WrapFor(buffer, memory, bytes, /*is_written=*/false));
  Unshare(buffer);
  TG_ASSIGN_OR_RETURN(const BufferRef to, BufferFor(buffer, bytes));
  if (bytes > 0) TG_RETURN_IF_ERROR(Copy(*from, 0, *to, 0, bytes));
  return to->context().Finish();
}

absl::Status DeviceSession::CopyTo(const BufferDecl& buffer, DeviceHandle memory, size_t bytes) {
  TG_ASSIGN_OR_RETURN(const BufferRef to, WrapFor(buffer, memory, bytes, /*is_written=*/true));
  TG_ASSIGN_OR_RETURN(const BufferRef from, BufferFor(buffer, bytes));
  if (bytes > 0) TG_RETURN_IF_ERROR(Copy(*from, 0, *to, 0, bytes));
  return to->context().Finish();
}

void DeviceSession::Release(const BufferDecl& buffer) {
  const auto own = own_buffers_.find(buffer.name);
  if (own == own_buffers_.end()) return;
  if (own->second != nullptr) {
    buffers_[buffer.name] = std::move(own->second);
  } else {
    buffers_.erase(buffer.name);
  }
  own_buffers_.erase(own);
  ++buffers_version_;
}

}  // namespace tg::runtime
