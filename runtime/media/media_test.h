// Files of testdata/media for tests.
#ifndef TG_RUNTIME_MEDIA_MEDIA_TEST_H_
#define TG_RUNTIME_MEDIA_MEDIA_TEST_H_

#include <string>

#include "gtest/gtest.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"

namespace tg::runtime {

inline std::string MediaPath(const std::string& name) { return "testdata/media/" + name; }

inline std::string MediaBytes(const std::string& name) {
  const absl::StatusOr<std::string> bytes = ReadFile(MediaPath(name));
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

inline HostTensor MediaNumbers(const std::string& name) {
  const absl::StatusOr<HostTensor> tensor = ReadNpy(MediaPath(name));
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.value_or(HostTensor());
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_MEDIA_TEST_H_
