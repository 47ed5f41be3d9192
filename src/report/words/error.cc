#include "base/result.h"
#include "report/words/words.h"

namespace coop {

std::string to_text(const Error& error) {
  std::string text;
  for (const std::string& doing : error.context) text += doing + ": ";
  if (error.origin) text = std::move(text) + report::in_words(*error.origin);
  if (error.origin && !error.operation.empty()) text += ": ";
  text += error.operation;
  if (!error.subject.empty()) {
    // A system error's subject is an object (quoted); otherwise it is already a sentence.
    const bool first = !error.origin && error.operation.empty();
    text += error.kind == Error::Kind::system ? " \"" + error.subject + "\""
                                              : (first ? "" : ": ") + error.subject;
  }
  if (error.errno_value != 0) text += ": " + errno_text(error.errno_value);
  return text;
}

}  // namespace coop
