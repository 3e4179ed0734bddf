// NumPy's archives of arrays (.npz), as numpy.savez writes them.
//
// An archive is a zip file with a member NAME.npy for each array. Members are stored as they are; a
// compressed one (numpy.savez_compressed) is Unimplemented.
#ifndef TG_TOOLS_TRAIN_NPZ_H_
#define TG_TOOLS_TRAIN_NPZ_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg::train {

// The arrays of an archive by name, without ".npy". Errors call the file `name`. InvalidArgument if
// the bytes are no archive, or a member is damaged: positions, sizes and checksums are checked.
absl::StatusOr<std::map<std::string, runtime::HostTensor>> ParseNpz(std::string_view bytes,
                                                                    std::string_view name);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_NPZ_H_
