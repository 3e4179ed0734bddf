// What is in a .tgx file, for people.
#ifndef TG_TOOLS_COMPILE_LIST_ARTIFACT_H_
#define TG_TOOLS_COMPILE_LIST_ARTIFACT_H_

#include <string>

#include "runtime/artifact/artifact_file.h"

namespace tg::compile {

std::string ListArtifact(const artifact::ArtifactFile& file);

}  // namespace tg::compile

#endif  // TG_TOOLS_COMPILE_LIST_ARTIFACT_H_
