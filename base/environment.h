// Variables of the process's environment.
#ifndef TG_BASE_ENVIRONMENT_H_
#define TG_BASE_ENVIRONMENT_H_

#include <cstdlib>
#include <string>

namespace tg {

// The value of a variable, or an empty string if it is not set.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace tg

#endif  // TG_BASE_ENVIRONMENT_H_
