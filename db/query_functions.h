// Functions of SQL whose own versions take time quadratic in their arguments, which no deadline
// interrupts: replace(X, Y, Z) and instr(X, Y), here linear.
#pragma once

struct sqlite3;

namespace assay::db {

// Replaces them on this connection; gives SQLite's code.
int add_query_functions(sqlite3* database);

}  // namespace assay::db
