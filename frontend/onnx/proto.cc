#include "frontend/onnx/proto.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/onnx/proto_reader.h"
#include "protozero/pbf_writer.hpp"

namespace tg::onnx {
namespace {

constexpr int kMaxDepth = 64;

// A repeated number: packed, or one an occurrence.
void Ints(pbf_reader& r, std::vector<int64_t>& to) {
  if (r.wire_type() == pbf_wire_type::varint) {
    to.push_back(r.get_int64());
    return;
  }
  Need(r, pbf_wire_type::length_delimited);
  for (const int64_t v : r.get_packed_int64()) to.push_back(v);
}
void Floats(pbf_reader& r, std::vector<float>& to) {
  if (r.wire_type() == pbf_wire_type::fixed32) {
    to.push_back(r.get_float());
    return;
  }
  Need(r, pbf_wire_type::length_delimited);
  for (const float v : r.get_packed_float()) to.push_back(v);
}

void ReadExternal(pbf_reader r, TensorProto& t) {
  std::string_view key, value;
  while (r.next()) {
    if (r.tag() == 1) {
      key = Text(r);
    } else if (r.tag() == 2) {
      value = Text(r);
    } else {
      r.skip();
    }
  }
  const auto number = [&] {
    int64_t n = 0;
    if (value.empty() || value.size() > 18) throw FormatError{"external data at no place"};
    for (const char c : value) {
      if (c < '0' || c > '9') throw FormatError{"external data at no place"};
      n = n * 10 + (c - '0');
    }
    return n;
  };
  if (key == "location") t.location = value;
  if (key == "offset") t.offset = number();
  if (key == "length") t.length = number();
}

TensorProto ReadTensor(pbf_reader r) {
  TensorProto t;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        Ints(r, t.dims);
        break;
      case 2:
        t.type = static_cast<ElementType>(Int(r));
        break;
      case 4:
        // Several packed runs are one list; only a single one can be used where it is.
        if (r.wire_type() == pbf_wire_type::length_delimited && t.packed_floats.empty() &&
            t.floats.empty()) {
          t.packed_floats = String(r);
        } else {
          for (size_t i = 0; i + 4 <= t.packed_floats.size(); i += 4) {
            float v;
            std::memcpy(&v, t.packed_floats.data() + i, 4);
            t.floats.push_back(v);
          }
          t.packed_floats = {};
          Floats(r, t.floats);
        }
        break;
      case 5: {
        std::vector<int64_t> wide;
        Ints(r, wide);
        for (const int64_t v : wide) t.int32s.push_back(static_cast<int32_t>(v));
        break;
      }
      case 6:
        t.strings.push_back(Text(r));
        break;
      case 7:
        Ints(r, t.int64s);
        break;
      case 8:
        t.name = Text(r);
        break;
      case 9:
        t.raw = Text(r);
        break;
      case 10:
        if (r.wire_type() == pbf_wire_type::length_delimited) {
          for (const double v : r.get_packed_double()) t.doubles.push_back(v);
        } else {
          Need(r, pbf_wire_type::fixed64);
          t.doubles.push_back(r.get_double());
        }
        break;
      case 11: {
        std::vector<int64_t> wide;
        Ints(r, wide);
        for (const int64_t v : wide) t.uint64s.push_back(static_cast<uint64_t>(v));
        break;
      }
      case 13:
        ReadExternal(Message(r), t);
        break;
      case 14:
        t.is_external = Int(r) == 1;
        break;
      default:
        r.skip();
    }
  }
  return t;
}

SparseTensorProto ReadSparse(pbf_reader r) {
  SparseTensorProto s;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        s.values = ReadTensor(Message(r));
        break;
      case 2:
        s.indices = ReadTensor(Message(r));
        break;
      case 3:
        Ints(r, s.dims);
        break;
      default:
        r.skip();
    }
  }
  return s;
}

GraphProto ReadGraph(pbf_reader r, int depth);

Attribute ReadAttribute(pbf_reader r, int depth) {
  Attribute a;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        a.name = Text(r);
        break;
      case 2:
        Need(r, pbf_wire_type::fixed32);
        a.f = r.get_float();
        break;
      case 3:
        a.i = Int(r);
        break;
      case 4:
        a.s = Text(r);
        break;
      case 5:
        a.tensor = std::make_shared<TensorProto>(ReadTensor(Message(r)));
        break;
      case 6:
        a.graph = std::make_shared<GraphProto>(ReadGraph(Message(r), depth + 1));
        break;
      case 7:
        Floats(r, a.floats);
        break;
      case 8:
        Ints(r, a.ints);
        break;
      case 9:
        a.strings.push_back(Text(r));
        break;
      case 20:
        a.type = static_cast<AttributeType>(Int(r));
        break;
      case 21:
        a.ref = Text(r);
        break;
      case 22:
        a.sparse = std::make_shared<SparseTensorProto>(ReadSparse(Message(r)));
        break;
      default:
        r.skip();
    }
  }
  return a;
}

Node ReadNode(pbf_reader r, int depth) {
  Node n;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        n.inputs.push_back(Text(r));
        break;
      case 2:
        n.outputs.push_back(Text(r));
        break;
      case 3:
        n.name = Text(r);
        break;
      case 4:
        n.op = Text(r);
        break;
      case 5:
        n.attributes.push_back(ReadAttribute(Message(r), depth));
        break;
      case 7:
        n.domain = Text(r);
        break;
      case 8:
        n.overload = Text(r);
        break;
      default:
        r.skip();
    }
  }
  if (n.domain == "ai.onnx") n.domain = {};
  const auto refers = [](const Node& inner) { return inner.has_references; };
  for (const Attribute& a : n.attributes) {
    n.has_references |= !a.ref.empty() || (a.graph && std::any_of(a.graph->nodes.begin(),
                                                                  a.graph->nodes.end(), refers));
  }
  return n;
}

GraphProto ReadGraph(pbf_reader r, int depth) {
  if (depth > kMaxDepth) throw FormatError{"graphs nested too deeply"};
  GraphProto g;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        g.nodes.push_back(ReadNode(Message(r), depth));
        break;
      case 2:
        g.name = Text(r);
        break;
      case 5:
        g.initializers.push_back(ReadTensor(Message(r)));
        break;
      case 11:
        g.inputs.push_back(ReadValueInfo(Message(r)));
        break;
      case 12:
        g.outputs.push_back(ReadValueInfo(Message(r)));
        break;
      case 15:
        g.sparse_initializers.push_back(ReadSparse(Message(r)));
        break;
      default:
        r.skip();
    }
  }
  return g;
}

OpsetId ReadOpset(pbf_reader r) {
  OpsetId id;
  while (r.next()) {
    if (r.tag() == 1) {
      id.domain = Text(r);
    } else if (r.tag() == 2) {
      id.version = Int(r);
    } else {
      r.skip();
    }
  }
  if (id.domain == "ai.onnx") id.domain = {};
  return id;
}

Function ReadFunction(pbf_reader r) {
  Function f;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        f.name = Text(r);
        break;
      case 4:
        f.inputs.push_back(Text(r));
        break;
      case 5:
        f.outputs.push_back(Text(r));
        break;
      case 7:
        f.nodes.push_back(ReadNode(Message(r), 1));
        break;
      case 9:
        f.opsets.push_back(ReadOpset(Message(r)));
        break;
      case 10:
        f.domain = Text(r);
        break;
      case 11:
        f.defaults.push_back(ReadAttribute(Message(r), 1));
        break;
      case 13:
        f.overload = Text(r);
        break;
      default:
        r.skip();
    }
  }
  if (f.domain == "ai.onnx") f.domain = {};
  return f;
}

Model ReadModel(pbf_reader r) {
  Model m;
  bool has_graph = false;
  while (r.next()) {
    switch (r.tag()) {
      case 1:
        m.ir_version = Int(r);
        break;
      case 2:
        m.producer = Text(r);
        break;
      case 7:
        m.graph = ReadGraph(Message(r), 0);
        has_graph = true;
        break;
      case 8:
        m.opsets.push_back(ReadOpset(Message(r)));
        break;
      case 25:
        m.functions.push_back(ReadFunction(Message(r)));
        break;
      default:
        r.skip();
    }
  }
  if (!has_graph) throw FormatError{"there is no graph in it"};
  return m;
}

// SequenceProto: its tensors are field 3.
std::vector<TensorProto> ReadSequence(pbf_reader r) {
  std::vector<TensorProto> tensors;
  while (r.next()) {
    if (r.tag() == 3) {
      tensors.push_back(ReadTensor(Message(r)));
    } else {
      r.skip();
    }
  }
  return tensors;
}
// OptionalProto: field 3 is a tensor, field 5 a sequence.
std::vector<TensorProto> ReadOptional(pbf_reader r) {
  std::vector<TensorProto> tensors;
  while (r.next()) {
    if (r.tag() == 3) {
      tensors = {ReadTensor(Message(r))};
    } else if (r.tag() == 5) {
      tensors = ReadSequence(Message(r));
    } else {
      r.skip();
    }
  }
  return tensors;
}

// protozero reports with exceptions; they end here.
template <typename F>
auto Guard(F&& read, const char* what) -> absl::StatusOr<decltype(read())> {
  const std::string prefix = std::string("not ") + what + ": ";
  try {
    return read();
  } catch (const FormatError& e) {
    return absl::InvalidArgumentError(prefix + e.what);
  } catch (const protozero::exception& e) {
    return absl::InvalidArgumentError(prefix + "the file is torn or damaged (" + e.what() + ")");
  }
}

}  // namespace

absl::StatusOr<Model> ParseModel(std::string_view bytes) {
  return Guard([&] { return ReadModel(pbf_reader(bytes.data(), bytes.size())); }, "an ONNX model");
}

absl::StatusOr<TensorProto> ParseTensor(std::string_view bytes) {
  return Guard([&] { return ReadTensor(pbf_reader(bytes.data(), bytes.size())); },
               "an ONNX tensor");
}

std::string SerializeTensor(const TensorProto& tensor) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_packed_int64(1, tensor.dims.begin(), tensor.dims.end());
  writer.add_int32(2, static_cast<int32_t>(tensor.type));
  writer.add_string(8, tensor.name.data(), tensor.name.size());
  writer.add_bytes(9, tensor.raw.data(), tensor.raw.size());
  return bytes;
}

absl::StatusOr<std::vector<TensorProto>> ParseValue(std::string_view bytes, const TypeProto& type) {
  const auto read = [&]() -> std::vector<TensorProto> {
    const pbf_reader r(bytes.data(), bytes.size());
    if (type.is_optional) return ReadOptional(r);
    if (type.kind == TypeProto::Kind::kSequence) return ReadSequence(r);
    return {ReadTensor(r)};
  };
  return Guard(read, "a value of ONNX");
}

bool LooksLikeModel(std::string_view bytes) {
  // A model has no magic number. It begins with the field ir_version, a small number, which is
  // followed by the key of another field of a model, in the order in which protobuf writes them.
  constexpr std::string_view kKeys = "\x12\x1a\x22\x28\x32\x3a\x42\x72\xca";
  return bytes.size() > 4 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 0x40 &&
         kKeys.find(bytes[2]) != std::string_view::npos;
}

}  // namespace tg::onnx
