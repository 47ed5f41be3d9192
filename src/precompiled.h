// What nearly every source includes, compiled once. A source still names each header it uses: the build must pass
// without this one (the tidy preset disables it).
#pragma once

// Before any of the kernel's headers: in the other order they define the same types again.
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "coop/host_facts.h"
#include "coop/policy.h"
#include "coop/result.h"
#include "coop/sandbox.h"
