// The operators that the tests of this folder run on floats, for the test that none is left out.
#ifndef TG_TOOLS_ACCURACY_OPERATOR_CASES_H_
#define TG_TOOLS_ACCURACY_OPERATOR_CASES_H_

#include <set>
#include <string>

#include "ir/dtype.h"
#include "tools/accuracy/evaluate.h"

namespace tg::accuracy {

inline constexpr Scalar kTestedTypes[] = {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64};
inline constexpr Implementation kTestedImplementations[] = {
    {Implementation::Kind::kInterpreter, false, true},
    {Implementation::Kind::kDevice, false, true}};

// "domain:op".
std::set<std::string> ExactOperators();     // exact_operators_test.cc
std::set<std::string> ReducingOperators();  // reducing_operators_test.cc

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_OPERATOR_CASES_H_
