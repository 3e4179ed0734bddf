// Types of values.
#include <vector>

#include "frontend/onnx/proto_reader.h"

namespace tg::onnx {
namespace {

constexpr int kMaxTypeDepth = 8;

std::vector<Dimension> ReadShape(pbf_reader r) {
  std::vector<Dimension> shape;
  while (r.next()) {
    if (r.tag() != 1) {
      r.skip();
      continue;
    }
    pbf_reader d = Message(r);
    Dimension& dim = shape.emplace_back();
    while (d.next()) {
      if (d.tag() == 1) {
        dim.value = Int(d);
      } else if (d.tag() == 2) {
        dim.param = Text(d);
      } else {
        d.skip();
      }
    }
  }
  return shape;
}

// A tensor, or an optional or sequence of something.
TypeProto ReadType(pbf_reader r, int depth = 0) {
  if (depth > kMaxTypeDepth) throw FormatError{"types nested too deeply"};
  // Reads a message in which only field 1, the type of the elements, matters.
  const auto read_inner = [&] {
    TypeProto inner;
    pbf_reader t = Message(r);
    while (t.next()) {
      if (t.tag() == 1) {
        inner = ReadType(Message(t), depth + 1);
      } else {
        t.skip();
      }
    }
    return inner;
  };
  TypeProto type;
  while (r.next()) {
    switch (r.tag()) {
      case 1: {
        type.kind = TypeProto::Kind::kTensor;
        pbf_reader t = Message(r);
        while (t.next()) {
          if (t.tag() == 1) {
            type.element = static_cast<ElementType>(Int(t));
          } else if (t.tag() == 2) {
            type.shape = ReadShape(Message(t));
          } else {
            t.skip();
          }
        }
        break;
      }
      case 4:
        type = read_inner();
        type.kind = type.kind == TypeProto::Kind::kTensor && !type.is_optional
                        ? TypeProto::Kind::kSequence
                        : TypeProto::Kind::kNone;
        break;
      case 5:
        type.kind = TypeProto::Kind::kMap;
        r.skip();
        break;
      case 8:
        type.kind = TypeProto::Kind::kSparse;
        r.skip();
        break;
      case 9:
        type = read_inner();
        type.is_optional = true;
        break;
      default:
        r.skip();
    }
  }
  return type;
}

}  // namespace

ValueInfo ReadValueInfo(pbf_reader r) {
  ValueInfo info;
  while (r.next()) {
    if (r.tag() == 1) {
      info.name = Text(r);
    } else if (r.tag() == 2) {
      info.type = ReadType(Message(r));
    } else {
      r.skip();
    }
  }
  return info;
}

}  // namespace tg::onnx
