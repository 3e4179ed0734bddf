// What a fuzzing run has reached: the table that it prints.
#ifndef TG_TOOLS_FUZZ_COVERAGE_H_
#define TG_TOOLS_FUZZ_COVERAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg::fuzz {

class Coverage {
 public:
  void AddGraph(const Module& module);
  void AddKernels(const Module& module);         // opts and kinds of axes
  void AddExpected(const HostBuffers& results);  // how sharp the comparison is
  // Counts what all rewriters of the process do from now on: call when it begins.
  static void WatchRules();
  void AddRuleHits();  // since the last call
  void Count(const std::string& what) { ++counts_[what]; }

  std::string Table() const;
  // Combinations of elementwise op and type, and rules, that were never met.
  std::vector<std::string> Missing() const;
  uint64_t graphs() const { return sizes_.size(); }

  // As text, so that processes can add up their counts.
  std::string Save() const;
  void Load(const std::string& text);

 private:
  std::map<std::string, uint64_t> counts_;
  std::vector<uint32_t> sizes_;
};

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_COVERAGE_H_
