// Devices: the placement of values of a tinygrad graph.
//
// tinygrad also calls a source or a sink of data a device: files, arrays of Python, the host's
// memory. In tg such data is an input or an output of the device that computes with it. A host
// device on which a graph computes nothing is therefore not a device in tg: data copied from it is
// placed on the target of the copy, and data copied to it stays on the device that computed it. All
// other devices keep their names, unless there is only one device.
#ifndef TG_FRONTEND_TINYGRAD_DEVICE_PLACEMENT_H_
#define TG_FRONTEND_TINYGRAD_DEVICE_PLACEMENT_H_

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

// The devices that a text names, without duplicates, and whether each computes.
class DeviceTable {
 public:
  static constexpr int kNone = -1;

  // Looks up the device that a string argument names, and adds it to the table if it is new.
  // *number is kNone if there is no name. Returns false, with an error at `n`, for a value on
  // several devices.
  bool Read(const Node& n, const Value* name, int* number, Diagnostics& diags);
  // Reads the device of a BUFFER or PARAM.
  bool ReadBuffer(const Node& n, int* number, Diagnostics& diags);
  // Reads the target of a COPY; kNone if it names none.
  bool ReadCopy(const Node& n, int* number, Diagnostics& diags);

  // Notes that something is computed on the device.
  void NoteWork(int number);

  // Whether tg has the device too. Valid once everything is read.
  bool IsReal(int number) const;
  // The first real device; kNone if there are fewer than two.
  int FirstOfSeveral() const;
  // Empty for kNone.
  std::string_view Name(int number) const;

 private:
  struct Device {
    std::string name;
    bool works = false;
  };
  std::vector<Device> devices_;
};

// The devices of a tensor graph.
class Devices {
 public:
  // `kernels`: what the graph's KERNELs run, in the order of the text. Returns false after an
  // error.
  bool Find(const Demand& demand, std::span<const KernelUse> kernels, Diagnostics& diags);

  // tg's name of the device that holds a node's value; empty if there is only one device. A
  // constant is on the first device.
  std::string_view Of(const Node* n) const;
  // Whether a COPY moves its value to another device.
  bool Moves(const Node* copy) const;

 private:
  bool ReadAll(const Demand& demand, std::span<const KernelUse> kernels, Diagnostics& diags);

  DeviceTable table_;
  std::vector<int> device_;  // by slot: tinygrad's device
  std::vector<int> place_;   // by slot: tg's device; kNone for a constant
  int first_ = DeviceTable::kNone;
};

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_DEVICE_PLACEMENT_H_
