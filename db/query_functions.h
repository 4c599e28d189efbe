// Functions of SQL whose own versions take time quadratic in their arguments, which no deadline
// interrupts. Here replace(X, Y, Z) and instr(X, Y) are linear, LIKE and GLOB have a bound, and
// each call looks first whether the statement is at its end, as nothing else does within one row.
#pragma once

#include "db/connection.h"

#include <cstdint>

namespace assay::db {

// The bytes of a text times those of a pattern.
inline constexpr std::int64_t kMaxPatternWork = std::int64_t{1} << 26;

// Replaces them on this connection, which the statements ask; gives SQLite's code.
int add_query_functions(Connection& connection);

}  // namespace assay::db
