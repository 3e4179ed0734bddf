// Devices: where the values of a tinygrad graph are.
//
// tinygrad also calls places devices from which data only comes or to which it only goes: files,
// arrays of Python, the host's memory. In tg, data there is an input or an output of the device
// that works with it. So a host's device on which a graph computes nothing is none in tg: what is
// copied from there arrives on the device that it is copied to, and what is copied there stays
// where it was computed. The names of all others are kept, unless there is one device only.
#ifndef TG_FRONTEND_TINYGRAD_DEVICES_H_
#define TG_FRONTEND_TINYGRAD_DEVICES_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/tinygrad/demand.h"
#include "frontend/tinygrad/kernel_import.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// The devices that a text names, each once, and what is done on them.
class DeviceTable {
 public:
  static constexpr int kNone = -1;

  // The number of the device in an argument, a string; kNone for none. False, with an error at `n`,
  // for what is on several devices at once.
  bool Read(const Node& n, const Value* name, int* number, Diagnostics& diags);
  // Of a BUFFER or PARAM.
  bool ReadBuffer(const Node& n, int* number, Diagnostics& diags);
  // Of what a COPY goes to; kNone where it does not say.
  bool ReadCopy(const Node& n, int* number, Diagnostics& diags);

  // Something is computed there.
  void NoteWork(int number);

  // Once all is read: whether it is a device in tg, too.
  bool IsReal(int number) const;
  // The first of those; kNone where there are less than two.
  int FirstOfSeveral() const;
  // "" for kNone.
  std::string_view Name(int number) const;

 private:
  struct Device {
    std::string name;
    bool works = false;
  };
  std::vector<Device> devices_;
};

// Of a tensor graph.
class Devices {
 public:
  // `kernels`: what the graph's KERNELs run, in the order of the text. False after an error.
  bool Find(const Demand& demand, std::span<const KernelUse> kernels, Diagnostics& diags);

  // The name in tg of the device that a node's value is on; "" where there is only one. A constant
  // is on the first.
  std::string_view Of(const Node* n) const;
  // Whether a COPY moves its value to another device.
  bool Moves(const Node* copy) const;

 private:
  bool ReadAll(const Demand& demand, std::span<const KernelUse> kernels, Diagnostics& diags);

  DeviceTable table_;
  std::vector<int> device_;  // by slot: as tinygrad has it
  std::vector<int> place_;   // by slot: in tg; kNone for a constant
  int first_ = DeviceTable::kNone;
};

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_DEVICES_H_
