// Made-up experiments for the tests of the reports.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// Two workloads that differ in n_q, two_cell against one_cell on cpu: the first faster with a
// second stage, the second rejected.
v1::Experiment made_up_comparison();

// Parity of two formats and two mutants, all as wanted.
v1::Experiment made_up_check();

// A device with a read, an fp32, a launch and a share ceiling.
v1::Experiment made_up_bench();

// One workload on a device with ceilings, in graph mode by events: counters of A, admission, other
// processes, second passes and the kernels of both arms.
v1::Experiment made_up_profile();

// A verdict whose total is `kind` with a ratio around `ratio`.
v1::Verdict made_up_verdict(v1::VerdictKind kind, double ratio, const std::string& reason);

// Adds a finished item that passed.
v1::CheckResult& add_made_up_item(v1::Experiment& experiment,
                                  const std::string& suite,
                                  const std::string& name,
                                  std::int64_t num_cases);

// The whole report; empty when it cannot be made.
std::string text_of(const v1::Experiment& experiment, Format format, bool with_samples = false);

// The last `num` lines.
std::string tail_of(const std::string& text, int num);

}  // namespace assay::client
