// Owners of vectorscan's objects.
#pragma once

#include <hs/hs_common.h>
#include <hs/hs_runtime.h>

#include <memory>

namespace coop::leaks {

struct FreeVectorscan {
  void operator()(hs_database_t* database) const { hs_free_database(database); }
  void operator()(hs_scratch_t* scratch) const { hs_free_scratch(scratch); }
};
using Database = std::unique_ptr<hs_database_t, FreeVectorscan>;
using Scratch = std::unique_ptr<hs_scratch_t, FreeVectorscan>;  // memory for one scan at a time

}  // namespace coop::leaks
