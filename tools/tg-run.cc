// Compiles a module for a device and runs it: tg-run --input x=x.npy --output y=y.npy model.uop
#include "tools/run/run_main.h"

int main(int argc, char** argv) { return tg::run::RunMain(argc, argv); }
