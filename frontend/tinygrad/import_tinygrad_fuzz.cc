// Fuzzes the importer with arbitrary bytes: it refuses them with a message that has a location, or
// returns a module that can be verified, printed, and read again.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "base/check.h"
#include "frontend/tinygrad/import_tinygrad.h"
#include "frontend/tinygrad/uop_mutator.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tg::Diagnostics diags;
  const auto module = tg::tinygrad::ImportTinygrad(text, "fuzz.repr", diags);
  TG_CHECK((module == nullptr) == diags.has_errors());
  (void)diags.ToString();
  if (!module) {
    TG_CHECK(diags.errors()[0].loc.line > 0);
    return 0;
  }
  if (!tg::VerifyModule(*module, diags)) {
    (void)diags.ToString();
    return 0;
  }
  const std::string printed = tg::PrintModule(*module);
  tg::Diagnostics more;
  const auto again = tg::ParseModule(printed, "again.uop", more);
  TG_CHECK(again != nullptr);
  TG_CHECK(tg::VerifyModule(*again, more));
  TG_CHECK(tg::PrintModule(*again) == printed);
  return 0;
}

// The reader refuses most texts with damaged bytes; mutated UOps get past it.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937 random(seed);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string mutant = random() % 50 == 0 ? tg::tinygrad::RandomUOps(random)
                                                : tg::tinygrad::MutateUOps(text, random);
  if (mutant.size() > max_size) return size;
  std::memcpy(data, mutant.data(), mutant.size());
  return mutant.size();
}
