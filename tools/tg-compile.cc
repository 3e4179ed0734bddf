// Compiles a model to one file: tg-compile model.onnx -o model.tgx
#include "tools/compile/compile_main.h"

int main(int argc, char** argv) { return tg::compile::CompileMain(argc, argv); }
