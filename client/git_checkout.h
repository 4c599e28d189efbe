// What the `git` program says of a folder. Nothing that a repository itself names is run: no hook,
// no file system monitor, no filter, no signature check, no fetch. What cannot be found out in two
// seconds, or without git, is unknown.
#pragma once

#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// commit, committed_ns, dirty (of tracked files) and branch of the checkout that `folder` is in;
// empty when it is in none, or git will not read it.
v1::Context read_checkout(const std::string& folder);

// The whole commit that these digits begin, and when it was made; both as they are typed, and
// unknown, where the repository has no such commit.
v1::Context read_commit(const std::string& folder, const std::string& digits);

}  // namespace assay::client
