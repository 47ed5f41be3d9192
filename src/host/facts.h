// The facts are public vocabulary: coop/host_facts.h.
#pragma once

#include "coop/host_facts.h"
