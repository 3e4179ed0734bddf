// tg-compile: compiles a model to a .tgx file (docs/compiling-ahead.md).
#ifndef TG_TOOLS_COMPILE_COMPILE_MAIN_H_
#define TG_TOOLS_COMPILE_COMPILE_MAIN_H_

namespace tg::compile {

int CompileMain(int argc, const char* const* argv);

}  // namespace tg::compile

#endif  // TG_TOOLS_COMPILE_COMPILE_MAIN_H_
