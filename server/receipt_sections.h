// The parts of a receipt's Markdown below the facts of an experiment. Each ends with a blank line,
// and is empty where the experiment has nothing of its kind.
#pragma once

#include "proto/assay.pb.h"
#include "proto/settings.h"
#include "server/markdown.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::server {

// Bits, goldens, tolerance and digests of the rows.
std::string exactness_section(const v1::ReceiptExperiment& experiment);

// Times, ratios and verdicts of the rows.
std::string speed_section(const v1::ReceiptExperiment& experiment);

std::string check_section(const v1::ReceiptExperiment& experiment);
std::string race_section(const v1::ReceiptExperiment& experiment);
std::string ceiling_section(const v1::ReceiptExperiment& experiment);

// What tells the rows apart; what is equal in all is a fact of the experiment.
class RowNames {
 public:
  explicit RowNames(const v1::ReceiptExperiment& experiment);

  // "A", "B" (or "arm") and "workload".
  std::vector<std::pair<std::string, std::string>> constant_facts() const;

  // What differs of a row's workload.
  std::string workload(const v1::ReceiptRow& row) const;

  // "#" and what differs.
  void add_columns(MarkdownTable& table) const;
  std::vector<std::string> cells(const v1::ReceiptRow& row) const;

 private:
  bool is_judged_;
  proto::Varying workloads_;
  proto::Varying baselines_;
  proto::Varying candidates_;
};

bool is_judged(const v1::ReceiptExperiment& experiment);

// "0.00285"; "-" for what is no number.
std::string share_text(double share);

// "int8 [2, 3]" of a tensor.
std::string shape_text(const v1::TensorDigest& tensor);

// The worst of each bucket over many tables of them, with the name of the one that has it.
class BucketTable {
 public:
  void add(const std::string& name,
           const google::protobuf::RepeatedPtrField<v1::ToleranceBucket>& buckets);
  std::string text() const;

 private:
  struct Bucket {
    v1::ToleranceBucket worst;
    std::int64_t num_elements = 0;
    std::string name;
  };

  std::vector<Bucket> buckets_;  // by least_terms
};

}  // namespace assay::server
