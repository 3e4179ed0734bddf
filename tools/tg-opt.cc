// Runs passes on a module in text form: tg-opt --pass=kernelize,lower in.uop -o out.uop
#include "tools/driver/opt_main.h"

int main(int argc, char** argv) { return tg::driver::OptMain(argc, argv); }
