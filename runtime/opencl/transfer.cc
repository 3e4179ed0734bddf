#include "runtime/opencl/transfer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tg::runtime {
namespace {

cl_uint Count(std::span<const cl_event> waits) { return static_cast<cl_uint>(waits.size()); }
const cl_event* Data(std::span<const cl_event> waits) {
  return waits.empty() ? nullptr : waits.data();
}
cl_event* Receive(ClEvent* event) { return event == nullptr ? nullptr : event->Receive(); }

// Runs after the read of a piece. The event passes the status, negative after a failure, to the
// piece's write.
void CL_CALLBACK SetArrived(cl_event, cl_int status, void* arrived) {
  const auto event = static_cast<cl_event>(arrived);
  clSetUserEventStatus(event, status < 0 ? status : CL_COMPLETE);
  clReleaseEvent(event);
}

bool CopyDirectly(const Context& from, const Context& to) {
  if (&from == &to) return true;
  return from.SharesWith(to) && !(from.info().is_nvidia && to.info().is_nvidia);
}

}  // namespace

// Pinned host memory, which devices access by DMA.
struct Transfer::Staging {
  struct Piece {
    size_t offset = 0, size = 0;
    ClEvent arrived;  // in the receiver's OpenCL context; signals that the piece may be written
    ClEvent written;
  };
  std::shared_ptr<const Buffer> keeps_sender;  // also keeps the queue that unmaps
  ClMem pinned;
  std::byte* bytes = nullptr;
  std::vector<Piece> pieces;

  cl_event last_write() const { return pieces.empty() ? nullptr : pieces.back().written.get(); }
  ~Staging() {
    const cl_event last = last_write();
    if (last != nullptr) clWaitForEvents(1, &last);
    const Context& context = keeps_sender->context();
    if (bytes != nullptr) {
      clEnqueueUnmapMemObject(context.queue(), pinned.get(), bytes, 0, nullptr, nullptr);
      clFinish(context.queue());
    }
  }
};

Transfer::Transfer(BufferRef from, BufferRef to, size_t size)
    : from_(std::move(from)), to_(std::move(to)), size_(size) {}

absl::StatusOr<Transfer> Transfer::Create(BufferRef from, BufferRef to, size_t size) {
  TG_CHECK(size <= from->size() && size <= to->size());
  Transfer transfer(std::move(from), std::move(to), size);
  const Context& sender = transfer.sender();
  if (CopyDirectly(sender, transfer.receiver())) return transfer;
  transfer.staging_ = std::make_shared<Staging>();
  Staging& staging = *transfer.staging_;
  staging.keeps_sender = transfer.from_;
  if (size == 0) return transfer;
  cl_int code = CL_SUCCESS;
  staging.pinned =
      ClMem(clCreateBuffer(sender.context(), CL_MEM_ALLOC_HOST_PTR, size, nullptr, &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateBuffer of memory of the host", sender.name()));
  staging.bytes = static_cast<std::byte*>(clEnqueueMapBuffer(sender.queue(), staging.pinned.get(),
                                                             CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                             size, 0, nullptr, nullptr, &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clEnqueueMapBuffer", sender.name()));
  // Pieces are few, so that their overhead is negligible, but enough to keep both directions busy.
  constexpr size_t kMinPiece = 1 << 20, kMaxPieces = 16;
  const size_t step = std::max(kMinPiece, (size + kMaxPieces - 1) / kMaxPieces);
  for (size_t offset = 0; offset < size; offset += step) {
    Staging::Piece& piece = staging.pieces.emplace_back();
    piece.offset = offset;
    piece.size = std::min(step, size - offset);
  }
  return transfer;
}

absl::Status Transfer::EnqueuePiece(size_t number, std::span<const cl_event> waits) {
  Staging::Piece& piece = staging_->pieces[number];
  ClEvent read;
  TG_RETURN_IF_ERROR(
      ClStatus(clEnqueueReadBuffer(sender().queue(), from_->mem(), CL_FALSE, piece.offset,
                                   piece.size, staging_->bytes + piece.offset, Count(waits),
                                   Data(waits), read.Receive()),
               "clEnqueueReadBuffer", sender().name()));
  if (sender().SharesWith(receiver())) {
    piece.arrived = std::move(read);
    return absl::OkStatus();
  }
  cl_int code = CL_SUCCESS;
  piece.arrived = ClEvent(clCreateUserEvent(receiver().context(), &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateUserEvent", receiver().name()));
  const cl_event arrived = piece.arrived.get();
  clRetainEvent(arrived);  // reference held by the callback
  code = clSetEventCallback(read.get(), CL_COMPLETE, SetArrived, arrived);
  if (code != CL_SUCCESS) clReleaseEvent(arrived);
  return ClStatus(code, "clSetEventCallback", sender().name());
}

absl::Status Transfer::EnqueueRead(ClEvent* event, std::span<const cl_event> waits) {
  TG_CHECK(through_host());
  std::vector<cl_event> all(waits.begin(), waits.end());
  if (const cl_event last = staging_->last_write(); last != nullptr) {
    // The previous copy may still be writing the pieces' contents to the receiver.
    if (sender().SharesWith(receiver())) {
      all.push_back(last);
    } else {
      TG_CL_CALL(receiver().name(), clWaitForEvents, 1, &last);
    }
  }
  for (size_t i = 0; i < staging_->pieces.size(); ++i) {
    // The queue is in order, so the first piece's wait delays all pieces.
    TG_RETURN_IF_ERROR(EnqueuePiece(i, i == 0 ? all : std::span<const cl_event>()));
  }
  if (event != nullptr) return EnqueueMarker(sender(), event);
  return ClStatus(clFlush(sender().queue()), "clFlush", sender().name());
}

absl::Status Transfer::EnqueueWrite(ClEvent* event, std::span<const cl_event> waits) {
  const Context& context = receiver();
  if (size_ == 0) return event == nullptr ? absl::OkStatus() : EnqueueMarker(context, event);
  if (!through_host()) {
    return ClStatus(clEnqueueCopyBuffer(context.queue(), from_->mem(), to_->mem(), 0, 0, size_,
                                        Count(waits), Data(waits), Receive(event)),
                    "clEnqueueCopyBuffer", context.name());
  }
  std::vector<cl_event> all(waits.begin(), waits.end());
  for (Staging::Piece& piece : staging_->pieces) {
    all.push_back(piece.arrived.get());
    TG_RETURN_IF_ERROR(
        ClStatus(clEnqueueWriteBuffer(context.queue(), to_->mem(), CL_FALSE, piece.offset,
                                      piece.size, staging_->bytes + piece.offset, Count(all),
                                      all.data(), piece.written.Receive()),
                 "clEnqueueWriteBuffer", context.name()));
    all.clear();
  }
  if (event == nullptr) return absl::OkStatus();
  clRetainEvent(staging_->last_write());
  *event = ClEvent(staging_->last_write());
  return absl::OkStatus();
}

absl::StatusOr<LaunchTimes> Transfer::Times(const ClEvent& event) const {
  TG_ASSIGN_OR_RETURN(LaunchTimes times, WaitForTimes(receiver(), event));
  if (!through_host() || staging_->pieces.empty()) return times;
  TG_ASSIGN_OR_RETURN(const LaunchTimes first,
                      WaitForTimes(receiver(), staging_->pieces[0].written));
  times.queued = first.queued;
  times.submitted = first.submitted;
  times.started = first.started;
  return times;
}

absl::Status EnqueueMarker(const Context& context, ClEvent* event) {
  TG_CL_CALL(context.name(), clEnqueueMarkerWithWaitList, context.queue(), 0, nullptr,
             event->Receive());
  return ClStatus(clFlush(context.queue()), "clFlush", context.name());
}

absl::Status EnqueueBarrier(const Context& context, std::span<const cl_event> waits) {
  if (waits.empty()) return absl::OkStatus();
  TG_CL_CALL(context.name(), clEnqueueBarrierWithWaitList, context.queue(), Count(waits),
             waits.data(), nullptr);
  return absl::OkStatus();
}

}  // namespace tg::runtime
