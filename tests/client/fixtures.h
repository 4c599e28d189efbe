// Made-up experiments for the tests of the reports.
#pragma once

#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// Two workloads that differ in n_q, two_cell against one_cell on cpu: the first faster with a
// second stage, the second rejected.
v1::Experiment made_up_comparison();

// Parity of two formats and two mutants, all as wanted.
v1::Experiment made_up_check();

// A verdict whose total is `kind` with a ratio around `ratio`.
v1::Verdict made_up_verdict(v1::VerdictKind kind, double ratio, const std::string& reason);

}  // namespace assay::client
