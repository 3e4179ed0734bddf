// Passes that misbehave in known ways, for tests of the pass manager and of tg-opt.
#ifndef TG_PASSES_TESTING_TEST_PASSES_H_
#define TG_PASSES_TESTING_TEST_PASSES_H_

#include <array>

#include "passes/pass.h"

namespace tg {

extern const Pass kTestRenamePass;       // appends a suffix to the module's name; counts, remarks
extern const Pass kTestNothingPass;      // changes nothing
extern const Pass kTestMiscompilePass;   // makes every mul of a graph an add
extern const Pass kTestDropStorePass;    // removes all stores of kernels before stage linear
extern const Pass kTestWrongKernelPass;  // changes an operation of one linear kernel
extern const Pass kTestInvalidPass;      // leaves a module that is not valid
extern const Pass kTestFailPass;         // returns an error, having changed the module before
extern const Pass kTestCrashPass;        // ends the process

inline constexpr auto kTestPasses = std::to_array<const Pass*>({
    &kTestRenamePass,
    &kTestNothingPass,
    &kTestMiscompilePass,
    &kTestDropStorePass,
    &kTestWrongKernelPass,
    &kTestInvalidPass,
    &kTestFailPass,
    &kTestCrashPass,
});

}  // namespace tg

#endif  // TG_PASSES_TESTING_TEST_PASSES_H_
