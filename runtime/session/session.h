// Session: runs a module with named tensors. This is the interface for programs that embed tg.
//
//   absl::StatusOr<std::unique_ptr<Session>> opened = OpenSession("model.onnx", "gpu");  //
//   model/open.h Session* session = opened->get(); session->Set("x", picture);
//   session->Run("main");
//   absl::StatusOr<HostTensor> logits = session->Get("logits");
//
// Inputs keep their contents between runs until they are set again. States keep theirs too; they
// start as zeros or with the values that the module defines. Params have the contents that the
// module defines, or are set. A variable's value is set (SetVar) or follows from the shape of an
// input. Only one thread may use a session; NewSibling makes one for another thread.
#ifndef TG_RUNTIME_SESSION_SESSION_H_
#define TG_RUNTIME_SESSION_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "runtime/device/device_handle.h"
#include "runtime/io/host_tensor.h"
#include "runtime/plan/extents.h"
#include "runtime/session/contents.h"
#include "runtime/session/given.h"

namespace tg::runtime {

struct TypeShape {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
};

class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Makes a session with the same kernels on the same devices, without a compile. The contents of
  // params that the module defines are loaded once, by the first of the sessions, and shared: on a
  // device there is one copy. So are constants that @init computes of them, unless @init sets other
  // states too. Inputs, outputs, states and other params are the new session's own, and as at its
  // start. Each of the two may be used while the other one is, and outlive it.
  virtual absl::StatusOr<std::unique_ptr<Session>> NewSibling() = 0;

  // The buffers and variables.
  const Declarations& declarations() const { return *declarations_; }

  // Sets the contents of an input or state, or of a param without contents in the module. NotFound
  // (with the existing names) for an unknown name, InvalidArgument for another type or shape.
  absl::Status Set(std::string_view name, const HostTensor& tensor);
  // The same for dense elements in the caller's memory, which may be reused at once.
  absl::Status Set(std::string_view name, ElementType type, std::span<const int64_t> shape,
                   std::span<const std::byte> elements);

  // Loans: memory of the caller's that the session may use where it is, until EndLoans. Small
  // tensors, and those of a device that does not address the host's memory, are copied as ever.
  // Lend is Set for elements that nobody changes during the loan.
  absl::Status Lend(std::string_view name, ElementType type, std::span<const int64_t> shape,
                    std::span<const std::byte> elements);
  // The same two for memory of the device: a session on a context of OpenCL that the user has
  // opened (DeviceRequest::opened) takes any cl_mem of that context. It is read after the commands
  // that the user enqueued before on the session's queue; for others, the user waits. Bools are 0
  // or 1. Set copies on the device. Lent memory is used where it is; of states, params and modules
  // over several devices it is copied.
  absl::Status Set(std::string_view name, ElementType type, std::span<const int64_t> shape,
                   DeviceHandle memory);
  absl::Status Lend(std::string_view name, ElementType type, std::span<const int64_t> shape,
                    DeviceHandle memory);
  // Has each run of `graph` until EndLoans leave an output in this memory, which overlaps no other
  // that is lent. It is there when Run returns.
  absl::Status LendOutput(std::string_view graph, std::string_view name, DeviceHandle memory);
  // Has the next run of `graph` write an output to memory that holds its greatest shape, if it can.
  // GetInto with that memory then copies nothing.
  void LendOutput(std::string_view graph, std::string_view name, std::span<std::byte> elements);
  // Inputs that were read, and outputs that were written, in lent memory have no contents after it.
  void EndLoans();

  // NotFound if there is no such variable, InvalidArgument outside of its bounds.
  absl::Status SetVar(std::string_view name, int64_t value);

  // Runs a graph of the module and waits for its end; "" means the graph named main, or the only
  // graph. Before the first run, and after a param was set, @init runs if the module has it.
  // FailedPrecondition names the inputs and variables that were not given. With `times` above 1 the
  // graph runs that often in a row, with one wait after the last run: what a program that does not
  // read each result pays. A run like the last one, with other contents of the same shapes,
  // allocates no memory on the host.
  absl::Status Run(std::string_view graph = "", int64_t times = 1);

  // Returns the contents of an output, state, input or param, in the shape given by the last run's
  // variables. FailedPrecondition for an output before any run.
  absl::StatusOr<HostTensor> Get(std::string_view name);
  // The same in a tensor whose memory is used again if it has that type and shape.
  absl::Status GetInto(std::string_view name, HostTensor& tensor);
  // The same in the caller's memory; InvalidArgument unless it has as many bytes as the contents.
  absl::Status GetInto(std::string_view name, std::span<std::byte> elements);
  // The same in memory of the device, which has at least as many bytes.
  absl::Status GetInto(std::string_view name, DeviceHandle memory);
  // The type and shape of what Get returns now.
  absl::StatusOr<TypeShape> FormOf(std::string_view name) const;

 protected:
  // The declarations are owned by the derived class, and so is what `graphs` points at.
  Session(const Declarations& declarations, std::vector<GraphNeeds> graphs, OpenContents contents);

  // For a session that shares buffers of these names with `from`: takes over what is known about
  // their contents. If params were set since the last time, @init runs again.
  void AdoptContents(const Session& from, std::span<const std::string> shared);
  bool is_initialized() const { return is_initialized_; }
  // The same, and that @init has run: its results are shared.
  void AdoptInitialized(const Session& from, std::span<const std::string> shared);
  // Loads the params whose contents the module defines, and returns their names.
  absl::StatusOr<std::vector<std::string>> LoadParams();
  const OpenContents& contents() const { return contents_; }
  // Records the value of a variable that a run has measured.
  void SetMeasured(const std::string& name, int64_t value) { last_sizes_[name] = value; }

  // Sets the buffer's contents, which have this shape.
  virtual absl::Status Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                              std::span<const std::byte> bytes) = 0;
  // The same with zeros.
  virtual absl::Status Clear(const BufferDecl& buffer, std::span<const int64_t> shape);
  // Uses memory of the host where it is: a param's contents, which `owner` keeps valid, or an input
  // or output until Release. Returns whether it does.
  virtual bool Adopt(const BufferDecl&, std::span<const std::byte>,
                     const std::shared_ptr<const void>& /*owner*/) {
    return false;
  }
  virtual void Release(const BufferDecl&) {}
  // The same for memory of the device with at least `bytes` bytes, which may be refused.
  virtual absl::StatusOr<bool> Adopt(const BufferDecl& buffer, DeviceHandle memory, size_t bytes);
  // Copies the first `bytes` bytes on the device.
  virtual absl::Status CopyFrom(const BufferDecl& buffer, DeviceHandle memory, size_t bytes);
  virtual absl::Status CopyTo(const BufferDecl& buffer, DeviceHandle memory, size_t bytes);
  // Fills all of `elements`, which are of the buffer's type and of a shape that it has.
  virtual absl::Status Download(const BufferDecl& buffer, std::span<std::byte> elements) = 0;
  // Runs the graph `times` times, one after the other, and waits for the end of the last run.
  // `vars` has every variable whose value is known.
  virtual absl::Status Execute(const GraphNeeds& graph, const VarMap& vars, int64_t times) = 0;

 private:
  // The buffer that Get reads; FailedPrecondition if it has no contents yet.
  absl::StatusOr<const BufferDecl*> FindReadable(std::string_view name, ElementType& type) const;
  absl::Status RunOne(const GraphNeeds& graph, int64_t times);
  // Memory of the host or of the device.
  struct Given {
    std::span<const std::byte> host;
    DeviceHandle device;
  };
  absl::Status SetOrLend(std::string_view name, ElementType type, std::span<const int64_t> shape,
                         const Given& elements, bool lend);
  absl::Status Take(const BufferDecl& buffer, std::span<const int64_t> shape, const Given& elements,
                    size_t bytes, bool lend);
  absl::Status RunGraph(std::string_view graph, int64_t times);
  absl::Status CopyResults(std::string_view graph);
  bool Borrow(const BufferDecl& buffer, std::span<const std::byte> elements);
  void EndLoan(const BufferDecl& buffer);
  bool IsAbsent(std::string_view name) const;
  bool InitReads(const BufferDecl& buffer) const;
  // Without what is absent.
  ShapesByName PresentShapes() const;
  // Loads contents that the module defines.
  absl::Status LoadContents(std::span<const BufferDecl* const> buffers);
  absl::Status ClearStates(std::span<const BufferDecl* const> buffers);

  const Declarations* declarations_;
  const std::vector<GraphNeeds> graphs_;
  std::vector<std::string_view> graph_names_;  // parallel to graphs_
  const OpenContents contents_;
  VarMap given_vars_, last_vars_;
  VarMap last_sizes_;  // last_vars_, and what the run has measured
  ShapesByName shapes_;
  std::set<const GraphNeeds*> completed_;  // graphs that have run: what they need is there
  bool has_run_ = false;
  bool is_initialized_ = false;  // @init has run with these params
  // The graph of the last run, if a run would find everything as that one did.
  const GraphNeeds* ready_ = nullptr;
  struct Loan {
    const BufferDecl* buffer = nullptr;
    std::span<const std::byte> memory;
    DeviceHandle device;
  };
  // An output that is copied to lent memory after each run of the graph.
  struct Result {
    size_t graph = 0;
    std::string name;
    DeviceHandle memory;
  };
  std::vector<Loan> loans_;
  std::vector<Result> results_;
  std::vector<const BufferDecl*> absent_;  // contents were in lent memory, and are no longer there
  int64_t params_set_ = 0;                 // how many times the contents of a param were set
};

// Returns the number of the graph that `name` means, see Run. NotFound lists the existing graphs.
absl::StatusOr<size_t> FindGraphToRun(std::string_view module,
                                      std::span<const std::string_view> graphs,
                                      std::string_view name);

// Returns the declaration of a buffer that Session::Get accepts. NotFound lists them.
absl::StatusOr<const BufferDecl*> FindStored(const Declarations& decls, std::string_view name);

// The same for a module, and what its graphs require. These are a part of //runtime/session.
absl::StatusOr<const Graph*> FindGraphToRun(const Module& module, std::string_view name);
std::vector<GraphNeeds> NeedsOfGraphs(const Module& module);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_SESSION_H_
