// Passes that misbehave in known ways, for tests of the pass manager and of tg-opt.
#ifndef TG_PASSES_TESTING_TEST_PASSES_H_
#define TG_PASSES_TESTING_TEST_PASSES_H_

#include <array>

#include "passes/pass.h"

namespace tg::testing {

extern const passes::Pass
    kTestRenamePass;  // appends a suffix to the module's name; counts, remarks
extern const passes::Pass kTestNothingPass;     // changes nothing
extern const passes::Pass kTestMiscompilePass;  // makes every mul of a graph an add
extern const passes::Pass kTestDropStorePass;   // removes all stores of kernels before stage linear
extern const passes::Pass kTestWrongKernelPass;  // changes an operation of one linear kernel
extern const passes::Pass kTestInvalidPass;      // leaves a module that is not valid
extern const passes::Pass kTestFailPass;   // returns an error, having changed the module before
extern const passes::Pass kTestCrashPass;  // ends the process
extern const passes::Pass kTestFaultPass;  // does so, hangs or miscompiles for some directive

inline constexpr auto kTestPasses = std::to_array<const passes::Pass*>({
    &kTestRenamePass,
    &kTestNothingPass,
    &kTestMiscompilePass,
    &kTestDropStorePass,
    &kTestWrongKernelPass,
    &kTestInvalidPass,
    &kTestFailPass,
    &kTestCrashPass,
    &kTestFaultPass,
});

}  // namespace tg::testing

#endif  // TG_PASSES_TESTING_TEST_PASSES_H_
