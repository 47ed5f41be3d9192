#include "alive.h"

#include <nlohmann/json.hpp>

#include "launch.h"
#include "sys/fd.h"

namespace coop::bench {

namespace {

AliveRow row_of(const nlohmann::json& read) {
  return AliveRow{.name = read.value("name", ""),
                  .wanted = read.value("wanted", std::size_t{0}),
                  .alive = read.value("alive", std::size_t{0}),
                  .trouble = read.value("trouble", ""),
                  .seconds = read.value("seconds", 0.0),
                  .helper_processes = read.value("helper_processes", 0.0),
                  .helpers_readable = read.value("helpers_readable", true),
                  .helper_private = read.value("helper_private_kib", 0.0),
                  .helper_anonymous = read.value("helper_anonymous_kib", 0.0),
                  .holder_resident = read.value("holder_resident_kib", 0.0),
                  .machine = read.value("machine_kib", 0.0)};
}

Result<AliveRow> ask_holder(const Holding& holding, std::size_t size, const Path& coop) {
  const Program program =
      TRY(Program::prepare(Launch{.arguments = {"/proc/self/exe", "--hold", holding.name, "--count",
                                                std::to_string(size), "--coop", coop}}));
  const std::string printed = TRY(program.rehearse());
  const nlohmann::json read = nlohmann::json::parse(printed, nullptr, false);
  if (!read.is_object()) return invalid("hold", "the holder printed no row");
  return row_of(read);
}

}  // namespace

const std::vector<Holding>& holdings() {
  static const std::vector<Holding> all{
      {"pool", "coop pool, idle", "init and waiting process of each, one janitor"},
      {"spawn", "coop::spawn of `sleep`", "init of each, one janitor"},
      {"coop", "`coop run` of `sleep`", "coop, init and janitor of each"},
      {"bwrap", "bwrap + seccomp of `sleep`", "both bwrap processes of each"},
  };
  return all;
}

std::vector<AliveRow> measure_alive(const std::vector<std::size_t>& sizes, const Path& coop) {
  std::vector<AliveRow> rows;
  for (const std::size_t size : sizes) {
    for (const Holding& holding : holdings()) {
      const Result<AliveRow> row = ask_holder(holding, size, coop);
      if (row) rows.push_back(*row);
      else
        rows.push_back(
            AliveRow{.name = holding.name, .wanted = size, .trouble = to_text(row.error())});
    }
  }
  return rows;
}

}  // namespace coop::bench
