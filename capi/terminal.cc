// What LLVM's support library asks of a terminal, for libtg.so: there is none. So the library does
// not need libtinfo, which LLVM 18 and older link to find out whether a terminal has colours.

extern "C" {

int setupterm(const char* /*terminal*/, int /*descriptor*/, int* error) {
  if (error != nullptr) *error = -1;
  return -1;
}
int tigetnum(const char* /*capability*/) { return -1; }
void* set_curterm(void* /*terminal*/) { return nullptr; }
int del_curterm(void* /*terminal*/) { return -1; }

}  // extern "C"
