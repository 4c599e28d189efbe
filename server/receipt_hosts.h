// Full host names, addresses and users at a host, as words of a text may have them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace assay::server {

inline constexpr std::string_view kHostRemoved = "(host removed)";

// "fe80::1", "fe80::1%eth0", "2001:db8::/32", and what has as many colons: "01:23:45:67:89:ab".
bool is_ipv6(std::string_view word);

// A word without blanks and paths ("node7.example.org:22", "10.0.0.7", "user@node7") with
// kHostRemoved in the places of hosts.
std::string scrub_hosts(std::string_view word);

}  // namespace assay::server
