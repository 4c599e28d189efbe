#include "db/query.h"
#include "db/sqlite_store.h"

namespace assay::db {

absl::Status SqliteStore::query(const v1::QueryRequest& request, const QueryCaller& caller) const {
  return run_query(readers_.path(), request, caller);
}

}  // namespace assay::db
