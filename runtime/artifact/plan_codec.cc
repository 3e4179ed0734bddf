#include "runtime/artifact/plan_codec.h"

#include <utility>

#include "base/status.h"
#include "runtime/artifact/check_plan.h"
#include "runtime/artifact/compress.h"

namespace tg::artifact {

TypeParts PartsOf(DType type) {
  TypeParts parts;
  parts.kind = static_cast<uint8_t>(type.kind());
  parts.scalar = static_cast<uint8_t>(type.scalar());
  parts.space = static_cast<uint8_t>(type.space());
  parts.lanes = type.lanes();
  parts.size = static_cast<int64_t>(type.Words().second);
  return parts;
}

std::optional<DType> CheckedType(const TypeParts& parts) {
  if (parts.scalar >= kNumScalars || parts.lanes < 1 || parts.lanes > kMaxVectorLanes ||
      parts.space > static_cast<uint8_t>(AddrSpace::kReg)) {
    return std::nullopt;
  }
  const auto scalar = static_cast<Scalar>(parts.scalar);
  switch (static_cast<DType::Kind>(parts.kind)) {
    case DType::Kind::kValue:
      return DType(scalar, parts.lanes);
    case DType::Kind::kPointer:
      return DType::Pointer(scalar, parts.size, static_cast<AddrSpace>(parts.space), parts.lanes);
    case DType::Kind::kImage:
      return DType::Image(scalar, static_cast<int32_t>(parts.size >> 32),
                          static_cast<int32_t>(parts.size & 0xffffffff), parts.lanes);
  }
  return std::nullopt;
}

namespace {

// In the order of PackedTexts.
std::vector<std::string*> SourcesOf(runtime::DeviceCode& code) {
  std::vector<std::string*> texts;
  for (runtime::CompiledKernel& k : code.kernels) texts.push_back(&k.code.source);
  for (runtime::ProgramSource& p : code.programs) texts.push_back(&p.source);
  return texts;
}

std::vector<std::string*> BinariesOf(runtime::DeviceCode& code) {
  std::vector<std::string*> texts;
  for (runtime::ProgramSource& p : code.programs) texts.push_back(&p.binary);
  return texts;
}

PackedTexts Packed(const std::vector<std::string*>& texts) {
  PackedTexts out;
  std::string all;
  for (std::string* text : texts) {
    out.lengths.push_back(static_cast<uint32_t>(text->size()));
    all += *text;
    text->clear();
  }
  out.packed = Pack(all);
  return out;
}

absl::Status SetTexts(const PackedTexts& from, const std::vector<std::string*>& texts) {
  const std::optional<std::string> all = Unpack(from.packed, from.bytes());
  if (!all) return InvalidArgument("its packed texts are damaged");
  size_t at = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    *texts[i] = all->substr(at, from.lengths[i]);
    at += from.lengths[i];
  }
  return absl::OkStatus();
}

}  // namespace

void PackTexts(Artifact& artifact) {
  for (runtime::DeviceCode& code : artifact.executable.devices) {
    artifact.sources.push_back(Packed(SourcesOf(code)));
    artifact.binaries.push_back(Packed(BinariesOf(code)));
  }
}

absl::Status UnpackSources(Artifact& artifact, size_t device) {
  return SetTexts(artifact.sources[device], SourcesOf(artifact.executable.devices[device]));
}

absl::Status UnpackBinaries(Artifact& artifact, size_t device) {
  return SetTexts(artifact.binaries[device], BinariesOf(artifact.executable.devices[device]));
}

Attachment MakeAttachment(std::string name, const std::string& text) {
  return {std::move(name), {{static_cast<uint32_t>(text.size())}, Pack(text)}};
}

absl::StatusOr<std::string> UnpackAttachment(const Artifact& artifact, std::string_view name) {
  for (const Attachment& attachment : artifact.attachments) {
    if (attachment.name != name) continue;
    std::string text;
    TG_RETURN_IF_ERROR(SetTexts(attachment.text, {&text}));
    return text;
  }
  return NotFound("there is no ", std::string(name), " in the file");
}

std::string EncodePlan(Artifact artifact) {
  FieldWriter writer;
  Fields(writer, artifact);
  return writer.Take();
}

absl::StatusOr<Artifact> DecodePlan(std::string_view bytes, uint64_t weights_offset,
                                    uint64_t weights_bytes) {
  Artifact artifact;
  FieldReader reader(bytes, "the plan");
  Fields(reader, artifact);
  if (!reader.error().empty()) return absl::InvalidArgumentError(reader.error());
  if (!reader.AtEnd()) {
    return InvalidArgument("the plan ends at byte ", reader.at(), " of ", bytes.size());
  }
  TG_RETURN_IF_ERROR(CheckPlan(artifact, weights_offset, weights_bytes));
  return artifact;
}

}  // namespace tg::artifact
