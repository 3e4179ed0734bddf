// For any bytes, the npy reader returns an error or a tensor that is unchanged by writing and
// reading.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tg::runtime;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<HostTensor> tensor = ParseNpy(bytes, "input");
  if (!tensor.ok()) return 0;
  const absl::StatusOr<std::string> header = NpyHeader(*tensor);
  if (!header.ok()) std::abort();
  const std::string_view elements(reinterpret_cast<const char*>(tensor->data.data()),
                                  tensor->data.size());
  const absl::StatusOr<HostTensor> again = ParseNpy(tg::Cat(*header, elements), "output");
  if (!again.ok() || *again != *tensor) std::abort();
  return 0;
}
