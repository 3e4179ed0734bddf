#include "ir/text/printer.h"

#include "ir/text/constant.h"

namespace tg {
namespace {

void AppendList(std::string& out, const std::vector<std::string>& strings) {
  out += '[';
  for (size_t i = 0; i < strings.size(); ++i) {
    if (i) out += ", ";
    AppendQuoted(out, strings[i]);
  }
  out += ']';
}

void PrintVar(std::string& out, const VarDecl& v) {
  out += "var @";
  out += v.name;
  out += " : [";
  AppendInt(out, v.min);
  out += ", ";
  AppendInt(out, v.max);
  out += "]\n";
}

void PrintBuffer(std::string& out, const BufferDecl& b) {
  out += "buffer @";
  out += b.name;
  out += " : ";
  out += b.dtype.ToString();
  out += '[';
  for (size_t i = 0; i < b.shape.size(); ++i) {
    if (i) out += ", ";
    out += b.shape[i].Text();
  }
  out += "] ";
  out += RoleName(b.role);
  if (!b.device.empty()) {
    out += " on ";
    AppendQuoted(out, b.device);
  }
  if (!b.file.empty() || !b.tensor.empty()) {
    out += " = file(";
    AppendQuoted(out, b.file);
    out += ", ";
    if (b.offset) {
      AppendInt(out, *b.offset);
      if (b.run_bytes || b.stride_bytes) {
        out += ", ";
        AppendInt(out, b.run_bytes);
        out += ", ";
        AppendInt(out, b.stride_bytes);
      }
    } else {
      AppendQuoted(out, b.tensor);
    }
    out += ')';
  } else if (b.values) {
    out += " = [";
    for (size_t i = 0; i < b.values->size(); ++i) {
      if (i) out += ", ";
      AppendConstant(out, b.dtype.scalar(), (*b.values)[i]);
    }
    out += ']';
  }
  out += '\n';
}

void PrintRequirement(std::string& out, const Requirement& r) {
  out += r.is_equality ? "require eq(" : "require le(";
  out += r.left.Text() + ", " + r.right.Text() + ")";
  if (!r.what.empty()) {
    out += ' ';
    AppendQuoted(out, r.what);
  }
  out += '\n';
}

void AppendAxes(std::string& out, const std::vector<Axis>& axes) {
  out += "axes = [";
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i) out += ", ";
    out += axes[i].name;
    out += ':';
    AppendInt(out, axes[i].size);
    out += axes[i].symbolic ? "* " : " ";
    out += AxisKindName(axes[i].kind);
  }
  out += ']';
}

void AppendSchedule(std::string& out, const std::vector<Directive>& directives) {
  out += "schedule = [";
  for (size_t i = 0; i < directives.size(); ++i) {
    if (i) out += ", ";
    out += directives[i].name;
    out += '(';
    for (size_t k = 0; k < directives[i].args.size(); ++k) {
      const DirectiveArg& arg = directives[i].args[k];
      if (k) out += ", ";
      if (arg.ident.empty()) {
        AppendInt(out, arg.number);
      } else {
        out += arg.ident;
      }
    }
    out += ')';
  }
  out += ']';
}

// Prints one statement per line. In the linear stage, statements in a loop or a block are indented;
// `open` holds the open ranges.
void AppendStatements(std::string& out, const Body& body) {
  const NodePrinter printer(body);
  if (body.linear.empty()) {
    for (const UOp* u : printer.order()) {
      out += "  ";
      printer.Append(out, u);
      out += '\n';
    }
    return;
  }
  NodeSet open, closed;
  size_t depth = 1;
  for (const UOp* u : printer.order()) {
    if (u->op == Op::kEnd) {
      for (size_t i = 1; i < u->num_srcs; ++i) {
        const bool is_open = open.Contains(u->src(i)) && closed.Insert(u->src(i));
        if (is_open && depth > 1) --depth;
      }
    }
    if (u->op == Op::kEndIf && depth > 1) --depth;
    out.append(2 * depth, ' ');
    printer.Append(out, u);
    out += '\n';
    if (u->op == Op::kRange) open.Insert(u);
    if (u->op == Op::kRange || u->op == Op::kIf) ++depth;
  }
}

void AppendGraph(std::string& out, const Graph& graph) {
  out += "graph @";
  out += graph.name;
  out += " {\n";
  AppendStatements(out, graph.body);
  out += "}\n";
}

void AppendKernel(std::string& out, const Kernel& kernel) {
  out += "kernel @";
  out += kernel.name;
  out += " : ";
  out += StageName(kernel.stage);
  std::string_view separator = " {";
  const auto field = [&] {
    out += separator;
    separator = ", ";
  };
  if (!kernel.metadata.empty()) {
    field();
    out += "metadata = ";
    AppendList(out, kernel.metadata);
  }
  if (!kernel.axes.empty()) {
    field();
    AppendAxes(out, kernel.axes);
  }
  if (!kernel.directives.empty()) {
    field();
    AppendSchedule(out, kernel.directives);
  }
  if (separator == ", ") out += '}';
  out += " {\n";
  AppendStatements(out, kernel.body);
  out += "}\n";
}

}  // namespace

void AppendQuoted(std::string& out, std::string_view s) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string PrintModule(const Module& module) {
  std::string out = "tg " + std::to_string(kFormatVersion) + "\nmodule @" + module.name;
  size_t nodes = 0;
  for (const auto& g : module.graphs) nodes += g->body.context->num_nodes();
  for (const auto& k : module.kernels) nodes += k->body.context->num_nodes();
  // The approximate size of a statement; avoids copies of a long text.
  out.reserve(4096 + nodes * 48);
  if (!module.target.empty() || !module.flags.empty()) {
    out += " {";
    if (!module.target.empty()) {
      out += "target = ";
      AppendQuoted(out, module.target);
      if (!module.flags.empty()) out += ", ";
    }
    if (!module.flags.empty()) {
      std::vector<std::string> texts;
      for (size_t i = 0; i < kModuleFlags.size(); ++i) {
        if (module.flags.has(static_cast<ModuleFlag>(i))) texts.emplace_back(kModuleFlags[i].text);
      }
      out += "flags = ";
      AppendList(out, texts);
    }
    out += '}';
  }
  out += '\n';
  for (const VarDecl& v : module.vars) PrintVar(out, v);
  for (const BufferDecl& b : module.buffers) PrintBuffer(out, b);
  for (const Requirement& r : module.requirements) PrintRequirement(out, r);
  for (const auto& g : module.graphs) {
    out += '\n';
    AppendGraph(out, *g);
  }
  for (const auto& k : module.kernels) {
    out += '\n';
    AppendKernel(out, *k);
  }
  return out;
}

std::string PrintGraph(const Graph& graph) {
  std::string out;
  AppendGraph(out, graph);
  return out;
}

std::string PrintKernel(const Kernel& kernel) {
  std::string out;
  AppendKernel(out, kernel);
  return out;
}

std::string PrintBody(const Body& body) {
  std::string out;
  AppendStatements(out, body);
  return out;
}

}  // namespace tg
