#include "coop/text/denial.h"

#include "base/path.h"
#include "report/text.h"

namespace coop {

std::string to_text(const Denial& denial) {
  const std::string grant = report::grant_text(denial);
  return printable(denial.what) + " (" + report::rule_text(denial) +
         (grant.empty() ? ")" : "; to allow it: " + grant + ")");
}

namespace report {

std::string rule_text(const Denial& denial) {
  return to_text(denial.rule) + (denial.problem.empty() ? "" : ": " + denial.problem);
}

std::string grant_text(const Denial& denial) {
  return denial.grant ? plain_text(denial.grant) : denial.hint;
}

}  // namespace report

}  // namespace coop
