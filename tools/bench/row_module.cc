// Operands, costs and graph of a row.
#include <numeric>

#include "base/status.h"
#include "frontend/common/graph_builder.h"
#include "tools/bench/row.h"

namespace tg::bench {
namespace {

using frontend::GraphBuilder;
using frontend::Value;

int64_t BytesOf(const Operand& operand) {
  return std::accumulate(operand.shape.begin(), operand.shape.end(), int64_t{1},
                         std::multiplies<>()) *
         ByteSize(operand.type);
}

BufferDecl DeclOf(const Operand& operand) {
  BufferDecl decl;
  decl.name = operand.name;
  decl.dtype = operand.type;
  decl.role = operand.role;
  for (const int64_t extent : operand.shape) decl.shape.push_back({.size = extent});
  return decl;
}

Value MatMul(GraphBuilder& g, const Row& row, Value a, Value b) {
  if (row.type == Scalar::kI8) {
    a = g.Cast(a, Scalar::kI32);
    b = g.Cast(b, Scalar::kI32);
  }
  return g.MatMul(a, row.b_transposed ? g.SwapAxes(b, 0, 1) : b);
}

Value Conv(GraphBuilder& g, const ConvSizes& s, Value a, Value weight) {
  const GraphBuilder::Window window{.kernel = {s.kernel, s.kernel},
                                    .strides = {s.stride, s.stride},
                                    .dilations = {1, 1},
                                    .pads_begin = {s.pad, s.pad},
                                    .pads_end = {s.pad, s.pad}};
  return g.Conv(a, weight, nullptr, window, s.groups);
}

Value BuildResult(GraphBuilder& g, const Row& row, const std::vector<Value>& in) {
  switch (row.work) {
    case Work::kMatMul:
      return MatMul(g, row, in[0], in[1]);
    case Work::kSumRows:
      return g.Sum(in[0], {1});
    case Work::kSumColumns:
      return g.Sum(in[0], {0});
    case Work::kSumAll:
      return g.Reshape(g.Sum(in[0], {0, 1}), {1});
    case Work::kSoftmax:
      return g.Softmax(in[0], 1);
    case Work::kLayerNorm:
      return g.Add(g.Mul(g.Normalize(in[0], {1}, kLayerNormEpsilon), in[1]), in[2]);
    case Work::kTranspose:
      return g.SwapAxes(in[0], 0, 1);
    case Work::kConv:
      return Conv(g, row.conv, in[0], in[1]);
  }
  return nullptr;
}

}  // namespace

std::vector<Operand> OperandsOf(const Row& row) {
  const Operand a{"a", row.type, {row.m, row.n}, Role::kInput};
  switch (row.work) {
    case Work::kMatMul:
      return {
          {"a", row.type, {row.m, row.k}, Role::kInput},
          {"b", row.type, row.b_transposed ? std::vector{row.n, row.k} : std::vector{row.k, row.n},
           Role::kInput}};
    case Work::kLayerNorm:
      return {a,
              {"scale", row.type, {row.n}, Role::kParam},
              {"shift", row.type, {row.n}, Role::kParam}};
    case Work::kConv: {
      const ConvSizes& s = row.conv;
      return {{"a", row.type, {1, s.channels, s.extent, s.extent}, Role::kInput},
              {"weight",
               row.type,
               {s.out_channels, s.channels / s.groups, s.kernel, s.kernel},
               Role::kParam}};
    }
    case Work::kSumRows:
    case Work::kSumColumns:
    case Work::kSumAll:
    case Work::kSoftmax:
    case Work::kTranspose:
      return {a};
  }
  return {};
}

Operand ResultOf(const Row& row) {
  Operand y{"y", row.type, {row.m, row.n}, Role::kOutput};
  switch (row.work) {
    case Work::kMatMul:
      if (row.type == Scalar::kI8) y.type = Scalar::kI32;
      break;
    case Work::kSumRows:
      y.shape = {row.m};
      break;
    case Work::kSumColumns:
      y.shape = {row.n};
      break;
    case Work::kSumAll:
      y.shape = {1};
      break;
    case Work::kTranspose:
      y.shape = {row.n, row.m};
      break;
    case Work::kConv:
      y.shape = {1, row.conv.out_channels, row.conv.out_extent(), row.conv.out_extent()};
      break;
    case Work::kSoftmax:
    case Work::kLayerNorm:
      break;
  }
  return y;
}

int64_t OperationsOf(const Row& row) {
  switch (row.work) {
    case Work::kMatMul:
      return 2 * row.m * row.k * row.n;
    case Work::kConv: {
      const ConvSizes& s = row.conv;
      return 2 * s.out_channels * s.out_extent() * s.out_extent() * (s.channels / s.groups) *
             s.kernel * s.kernel;
    }
    case Work::kSumRows:
    case Work::kSumColumns:
    case Work::kSumAll:
    case Work::kSoftmax:
    case Work::kLayerNorm:
    case Work::kTranspose:
      return 0;
  }
  return 0;
}

int64_t BytesRead(const Row& row) {
  int64_t bytes = 0;
  for (const Operand& operand : OperandsOf(row)) bytes += BytesOf(operand);
  return bytes;
}

int64_t BytesWritten(const Row& row) { return BytesOf(ResultOf(row)); }

absl::StatusOr<std::unique_ptr<Module>> BuildModule(const Row& row) {
  auto module = std::make_unique<Module>();
  module->name = WorkName(row.work);
  for (char& c : module->name) c = c == '-' ? '_' : c;
  auto graph = std::make_unique<Graph>();
  graph->name = "main";
  GraphBuilder g(*module, graph->body);
  std::vector<Value> inputs;
  for (const Operand& operand : OperandsOf(row)) {
    inputs.push_back(g.Declare(operand.name, DeclOf(operand)));
  }
  const Value y = BuildResult(g, row, inputs);
  if (!g.ok() || y == nullptr) return InvalidArgument(row.name, ": ", g.error());
  module->buffers.push_back(DeclOf(ResultOf(row)));
  const std::string_view targets[] = {"y"};
  graph->body.root = g.ir().Sink({&y, 1}, targets);
  module->graphs.push_back(std::move(graph));
  return module;
}

}  // namespace tg::bench
