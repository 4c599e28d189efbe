// Bounds the heap that SQLite takes on one thread, so that what one caller asks for cannot starve
// the others of the process. Past it an allocation fails and SQLite answers SQLITE_NOMEM.
#pragma once

#include <cstdint>

namespace assay::db {

// Holds for this thread as long as it lives. One a thread at a time; what was allocated under it is
// freed on its thread.
class HeapBudget {
 public:
  explicit HeapBudget(std::int64_t max_bytes);
  ~HeapBudget();
  HeapBudget(const HeapBudget&) = delete;
  HeapBudget& operator=(const HeapBudget&) = delete;

  // Before SQLite's first use in the process, once; later calls give the same result code.
  static int install();
};

}  // namespace assay::db
