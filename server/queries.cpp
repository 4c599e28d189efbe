#include "server/queries.h"

#include "absl/strings/str_cat.h"

namespace assay::server {
namespace {

// A place among those that run, given back at its end.
class Place {
 public:
  explicit Place(std::atomic<int>& num_running)
      : num_running_(num_running), is_free_(num_running.fetch_add(1) < kMaxQueries) {}

  ~Place() { num_running_.fetch_sub(1); }

  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool is_free() const { return is_free_; }

 private:
  std::atomic<int>& num_running_;
  const bool is_free_;
};

}  // namespace

absl::Status Queries::run(const v1::QueryRequest& request, const db::QueryCaller& caller) {
  const Place place(num_running_);
  if (!place.is_free()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxQueries, " queries run, the limit; ask again when one has ended"));
  }
  return store_.query(request, caller);
}

}  // namespace assay::server
