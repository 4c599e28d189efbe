// What an experiment is part of, in words.
#pragma once

#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// "2e52f37aa3d1 with changes, of 2026-01-31 12:00:05 UTC"; empty: unknown.
std::string commit_text(const v1::Context& context);

// "2e52f37a" or "2e52f37a+" with changes, for a table; empty: unknown.
std::string short_commit_text(const v1::Context& context);

// "pr=1234, nightly".
std::string labels_text(const v1::Context& context);

}  // namespace assay::client
