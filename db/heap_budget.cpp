#include "db/heap_budget.h"

#include "sqlite3.h"

namespace assay::db {
namespace {

// Of the library; set once, before any thread allocates.
sqlite3_mem_methods library;

thread_local std::int64_t max_bytes_here = 0;  // 0: no bound
thread_local std::int64_t used_bytes_here = 0;

bool is_over(std::int64_t more_bytes) {
  return max_bytes_here != 0 && used_bytes_here + more_bytes > max_bytes_here;
}

void* allocate(int num_bytes) {
  if (is_over(num_bytes)) {
    return nullptr;
  }
  void* const memory = library.xMalloc(num_bytes);
  if (memory != nullptr) {
    used_bytes_here += library.xSize(memory);
  }
  return memory;
}

void release(void* memory) {
  used_bytes_here -= library.xSize(memory);
  library.xFree(memory);
}

void* resize(void* memory, int num_bytes) {
  const int before = library.xSize(memory);
  if (num_bytes > before && is_over(num_bytes - before)) {
    return nullptr;
  }
  void* const moved = library.xRealloc(memory, num_bytes);
  if (moved != nullptr) {
    used_bytes_here += library.xSize(moved) - before;
  }
  return moved;
}

int install_once() {
  if (const int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &library); code != SQLITE_OK) {
    return code;
  }
  sqlite3_mem_methods counted = library;
  counted.xMalloc = allocate;
  counted.xFree = release;
  counted.xRealloc = resize;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}

}  // namespace

HeapBudget::HeapBudget(std::int64_t max_bytes) {
  used_bytes_here = 0;
  max_bytes_here = max_bytes;
}

HeapBudget::~HeapBudget() {
  max_bytes_here = 0;
}

int HeapBudget::install() {
  static const int code = install_once();
  return code;
}

}  // namespace assay::db
