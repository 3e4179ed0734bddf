// Coverage of a fuzzing run: the table that it prints.
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
  void AddKernels(const Module& module);                    // counts directives and kinds of axes
  void AddExpected(const interpret::HostBuffers& results);  // counts how strict the comparison is
  // Starts counting the hits of simplification rules in all rewriters of the process. A rewriter
  // reports its hits when it is destroyed.
  static void WatchRules();
  void AddRuleHits();  // adds the hits since the last call
  void Count(const std::string& what) { ++counts_[what]; }

  std::string Table() const;
  // Combinations of elementwise op and type, and rules, that never occurred.
  std::vector<std::string> Missing() const;
  uint64_t graphs() const { return sizes_.size(); }

  // Serializes the counts, so that they can be added up across processes.
  std::string Save() const;
  void Load(const std::string& text);

 private:
  std::map<std::string, uint64_t> counts_;
  std::vector<uint32_t> sizes_;
};

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_COVERAGE_H_
