// Reads a program from a file, which is a module of one graph. Inputs whose values the text does
// not give get random values.
#ifndef TG_TOOLS_FUZZ_PROGRAM_FILE_H_
#define TG_TOOLS_FUZZ_PROGRAM_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/testing/random_graph.h"

namespace tg::fuzz {

// `vars`: "name=5" each; a variable without a value gets its upper bound.
absl::StatusOr<testing::RandomProgram> ReadProgram(const std::string& path,
                                                   const std::vector<std::string>& vars,
                                                   uint64_t seed);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_PROGRAM_FILE_H_
