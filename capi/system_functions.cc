// Functions of the system that LLVM's support library calls, for shared libraries that run on other
// systems than the one that builds them.
#include <sys/random.h>

#include <cstdint>

// Libraries that the process loads get none of these.
#pragma GCC visibility push(hidden)
extern "C" {

// LLVM 18 and older ask a terminal whether it has colours, for which they link libtinfo. A library
// has no terminal.
int setupterm(const char* /*terminal*/, int /*descriptor*/, int* error) {
  if (error != nullptr) *error = -1;
  return -1;
}
int tigetnum(const char* /*capability*/) { return -1; }
void* set_curterm(void* /*terminal*/) { return nullptr; }
int del_curterm(void* /*terminal*/) { return -1; }

// Names of temporary files. Older versions of glibc do not have it, and it would be the only reason
// for a newer one.
uint32_t arc4random() noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

}  // extern "C"
#pragma GCC visibility pop
