// Copies between two OpenCL devices.
//
// Devices that share an OpenCL context copy by one command on the receiver's queue. Other devices
// copy through pinned host memory: commands on the sender's queue read piece by piece, and commands
// on the receiver's queue write each piece as soon as it has arrived. NVIDIA's devices also use
// host memory, because their driver moves whole buffers back and forth for a direct copy.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "runtime/device/transfer.h"
#include "runtime/opencl/cl_context.h"

namespace tg::runtime {
namespace {

// Runs after the read of a piece. The event passes the status, negative after a failure, to the
// piece's write.
void CL_CALLBACK SetArrived(cl_event, cl_int status, void* arrived) {
  const auto event = static_cast<cl_event>(arrived);
  clSetUserEventStatus(event, status < 0 ? status : CL_COMPLETE);
  clReleaseEvent(event);
}

bool CopyDirectly(const OpenClContext& from, const OpenClContext& to) {
  if (&from == &to) return true;
  return from.SharesWith(to) && !(from.info().is_nvidia && to.info().is_nvidia);
}

// Pinned host memory, which devices access by DMA.
struct Staging {
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
    const OpenClContext& context = *AsOpenCl(keeps_sender->context());
    if (bytes != nullptr) {
      clEnqueueUnmapMemObject(context.queue(), pinned.get(), bytes, 0, nullptr, nullptr);
      clFinish(context.queue());
    }
  }
};

class ClTransfer : public TransferCommands {
 public:
  ClTransfer(BufferRef from, BufferRef to, size_t size)
      : from_(std::move(from)), to_(std::move(to)), size_(size) {}

  absl::Status Prepare();
  bool through_host() const override { return staging_ != nullptr; }
  absl::Status EnqueueRead(Event* event, std::span<const Event> waits) override;
  absl::Status EnqueueWrite(Event* event, std::span<const Event> waits) override;
  absl::StatusOr<LaunchTimes> Times(const Event& event) const override;

 private:
  const OpenClContext& sender() const { return *AsOpenCl(from_->context()); }
  const OpenClContext& receiver() const { return *AsOpenCl(to_->context()); }
  cl_mem from() const { return MemOf(from_->memory()); }
  cl_mem to() const { return MemOf(to_->memory()); }
  absl::Status EnqueuePiece(size_t piece, std::span<const cl_event> waits);

  BufferRef from_, to_;
  size_t size_;
  std::unique_ptr<Staging> staging_;
};

absl::Status ClTransfer::Prepare() {
  const OpenClContext& sender = this->sender();
  if (CopyDirectly(sender, receiver())) return absl::OkStatus();
  staging_ = std::make_unique<Staging>();
  Staging& staging = *staging_;
  staging.keeps_sender = from_;
  const size_t size = size_;
  if (size == 0) return absl::OkStatus();
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
  return absl::OkStatus();
}

absl::Status ClTransfer::EnqueuePiece(size_t number, std::span<const cl_event> waits) {
  Staging::Piece& piece = staging_->pieces[number];
  ClEvent read;
  TG_RETURN_IF_ERROR(ClStatus(
      clEnqueueReadBuffer(sender().queue(), from(), CL_FALSE, piece.offset, piece.size,
                          staging_->bytes + piece.offset, static_cast<cl_uint>(waits.size()),
                          waits.empty() ? nullptr : waits.data(), read.Receive()),
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

absl::Status ClTransfer::EnqueueRead(Event* event, std::span<const Event> waits) {
  TG_CHECK(through_host());
  std::vector<cl_event> all = WaitList(waits);
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
  return event != nullptr ? sender().EnqueueMarker(event) : sender().Flush();
}

absl::Status ClTransfer::EnqueueWrite(Event* event, std::span<const Event> waits) {
  const OpenClContext& context = receiver();
  if (size_ == 0) return event == nullptr ? absl::OkStatus() : context.EnqueueMarker(event);
  if (!through_host()) {
    const std::vector<cl_event> list = WaitList(waits);
    ClEvent copied;
    TG_CL_CALL(context.name(), clEnqueueCopyBuffer, context.queue(), from(), to(), 0, 0, size_,
               static_cast<cl_uint>(list.size()), list.empty() ? nullptr : list.data(),
               event == nullptr ? nullptr : copied.Receive());
    if (event != nullptr) *event = NewEvent(context, std::move(copied));
    return absl::OkStatus();
  }
  std::vector<cl_event> all = WaitList(waits);
  for (Staging::Piece& piece : staging_->pieces) {
    all.push_back(piece.arrived.get());
    TG_RETURN_IF_ERROR(ClStatus(
        clEnqueueWriteBuffer(context.queue(), to(), CL_FALSE, piece.offset, piece.size,
                             staging_->bytes + piece.offset, static_cast<cl_uint>(all.size()),
                             all.data(), piece.written.Receive()),
        "clEnqueueWriteBuffer", context.name()));
    all.clear();
  }
  if (event == nullptr) return absl::OkStatus();
  clRetainEvent(staging_->last_write());
  *event = NewEvent(context, ClEvent(staging_->last_write()));
  return absl::OkStatus();
}

absl::StatusOr<LaunchTimes> ClTransfer::Times(const Event& event) const {
  TG_ASSIGN_OR_RETURN(LaunchTimes times, event->Times());
  if (!through_host() || staging_->pieces.empty()) return times;
  const cl_event written = staging_->pieces[0].written.get();
  clRetainEvent(written);
  TG_ASSIGN_OR_RETURN(const LaunchTimes first, NewEvent(receiver(), ClEvent(written))->Times());
  times.queued = first.queued;
  times.submitted = first.submitted;
  times.started = first.started;
  return times;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TransferCommands>> OpenClContext::NewTransfer(
    std::shared_ptr<const Buffer> from, std::shared_ptr<const Buffer> to, size_t bytes) const {
  if (AsOpenCl(from->context()) == nullptr) {
    return NewHostTransfer(std::move(from), std::move(to), bytes);
  }
  auto transfer = std::make_unique<ClTransfer>(std::move(from), std::move(to), bytes);
  TG_RETURN_IF_ERROR(transfer->Prepare());
  return std::unique_ptr<TransferCommands>(std::move(transfer));
}

}  // namespace tg::runtime
