// Long lists of what workloads had. Rows of one operator and device stand together, and what their
// workloads share stands once, above them.
#pragma once

#include "client/settings.h"
#include "client/table.h"

#include <string>
#include <vector>

namespace assay::client {

// Of a canonical text, "kv=int8,width=64". A part without = is a bare value.
Settings workload_settings(const std::string& workload);

struct ListedRow {
  std::string operator_name;
  std::string device;  // empty: of any
  std::string workload;
  std::vector<std::string> cells;  // the workload is put after the first one
};

// Where a program reads what people read above the rows.
struct ListedPlace {
  const char* name;
  std::string ListedRow::*field;
  std::size_t index;  // among the columns of the CSV
};

// Groups are in the order of their first rows. CSV is one table, with `places` (by index) among the
// columns.
std::string listed_text(const std::vector<Column>& columns,
                        const std::vector<ListedRow>& rows,
                        const std::vector<ListedPlace>& places,
                        Format format);

}  // namespace assay::client
