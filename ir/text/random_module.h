// Modules of random nodes, for tests of the text format: all ops, any attribute that the op table
// allows, valid and invalid names. They print and read back; most do not verify.
#ifndef TG_IR_TEXT_RANDOM_MODULE_H_
#define TG_IR_TEXT_RANDOM_MODULE_H_

#include <cstdint>
#include <memory>

#include "ir/module.h"

namespace tg {

std::unique_ptr<Module> RandomModule(uint32_t seed);

}  // namespace tg

#endif  // TG_IR_TEXT_RANDOM_MODULE_H_
