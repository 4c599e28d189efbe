// Accepted digests: the repository's golden files, read once, and the epochs in the database that
// override them. Lookups may be made from any thread.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace assay::server {

// The domain of a variant's bits, as the operator's description says. Of a variant that it does not
// name: the operator's own for the baseline family, else `cpu` or `sm_XX+toolkit`.
std::string bits_domain(const v1::OperatorInfo& info,
                        const std::string& variant,
                        const std::string& family,
                        const v1::Device& device);

// The variant whose outputs the digests of cases stand for; empty when there is none.
std::string case_variant(const v1::OperatorInfo& info);

class Goldens {
 public:
  // `files` from the golden files; a key there twice with two digests is the reader's error.
  Goldens(const db::Store& store, std::vector<v1::Golden> files);

  // The digest in force, with its epoch where one has it; `key` names everything but the digest.
  absl::StatusOr<std::optional<std::string>> find(const v1::Golden& key) const;

  // A page: epochs first, then the files' entries that no epoch overrides (none of these in the
  // log, which is of epochs). INVALID_ARGUMENT for a page token that is not ours.
  absl::StatusOr<v1::ListGoldensResponse> list(const v1::ListGoldensRequest& request) const;

  // Compares what an arm gave: sets `golden` to "reproduced", "none stored" or "differs", and says
  // in `first_differing` which. Outputs without a golden count as missing.
  struct Comparison {
    std::uint32_t num_reproduced = 0;
    std::uint32_t num_missing = 0;
    std::uint32_t num_differing = 0;
    std::string first_differing;

    std::string golden() const;
  };

  // Of each output of the measurement; `key` holds operator, workload, family and domain.
  absl::StatusOr<Comparison> compare(const v1::Measurement& measurement, v1::Golden key) const;

  // Of each case of a check; `key` holds the operator.
  absl::StatusOr<Comparison> compare(const v1::CheckResult& check,
                                     const v1::OperatorInfo& info,
                                     const v1::Device& device) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  static Key key_of(const v1::Golden& golden);
  absl::Status add(Comparison& comparison, const v1::Golden& key, const std::string& digest) const;

  const db::Store& store_;
  std::map<Key, v1::Golden> files_;
};

// Reads every *.tsv of a folder. Errors name the file, line and column.
absl::StatusOr<std::vector<v1::Golden>> read_golden_files(const std::string& folder);

}  // namespace assay::server
