// Command lines that a user can copy.
#ifndef TG_TOOLS_RUN_SHELL_H_
#define TG_TOOLS_RUN_SHELL_H_

#include <string>

namespace tg::run {

// The argument as a shell reads it.
inline std::string ShellQuoted(const std::string& argument) {
  const bool is_plain = argument.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-+=:,./@%") == std::string::npos;
  if (is_plain && !argument.empty()) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_SHELL_H_
