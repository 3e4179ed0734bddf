#include "runtime/artifact/plan_codec.h"

#include <utility>

#include "base/status.h"
#include "runtime/artifact/check_plan.h"

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

std::string EncodePlan(Artifact artifact) {
  PlanWriter writer;
  Fields(writer, artifact);
  return writer.Take();
}

absl::StatusOr<Artifact> DecodePlan(std::string_view bytes, uint64_t weights_offset,
                                    uint64_t weights_bytes) {
  Artifact artifact;
  PlanReader reader(bytes);
  Fields(reader, artifact);
  if (!reader.error().empty()) return absl::InvalidArgumentError(reader.error());
  if (!reader.AtEnd()) {
    return InvalidArgument("the plan ends at byte ", reader.at(), " of ", bytes.size());
  }
  TG_RETURN_IF_ERROR(CheckPlan(artifact, weights_offset, weights_bytes));
  return artifact;
}

}  // namespace tg::artifact
