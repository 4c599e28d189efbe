#include "server/address.h"

#include "tests/server/fixture.h"

#include <fstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace assay::server {
namespace {

TEST(Address, RefusesWhatIsNotLoopback) {
  for (const char* text : {"0.0.0.0:7070", "192.168.1.2:7070", "[::]:7070", "example.org:80"}) {
    const auto address = parse_address(text);
    EXPECT_EQ(address.status().code(), absl::StatusCode::kFailedPrecondition) << text;
    EXPECT_NE(std::string(address.status().message()).find("TLS"), std::string::npos);
  }
}

TEST(Address, ShowsTheFormsWhenItIsNone) {
  for (const std::string& text : {std::string("7070"),
                                  std::string(":7070"),
                                  std::string("127.0.0.1:70000"),
                                  std::string("unix:"),
                                  "unix:/" + std::string(200, 'x')}) {
    EXPECT_EQ(parse_address(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Address, TakesASocketAndLoopback) {
  EXPECT_EQ(parse_address("unix:/tmp/a.sock")->socket_path, "/tmp/a.sock");
  EXPECT_EQ(parse_address("localhost:7070")->text, "127.0.0.1:7070");
  EXPECT_EQ(parse_address("[::1]:0")->port, 0);
}

// A socket that is bound, and listened on when asked.
int bound_socket(const std::string& path, bool listening) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(listening ? listen(fd, 1) : 0, 0);
  return fd;
}

TEST(AddressClaim, RefusesALiveSocket) {
  const Folder folder;
  const std::string path = folder / "live.sock";
  const int fd = bound_socket(path, true);
  const auto claim = AddressClaim::take(*parse_address("unix:" + path));
  EXPECT_EQ(claim.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::exists(path));
  close(fd);
}

TEST(AddressClaim, RefusesAFileThatIsNoSocket) {
  const Folder folder;
  const std::string path = folder / "file";
  std::ofstream(path) << "kept";
  const auto claim = AddressClaim::take(*parse_address("unix:" + path));
  EXPECT_EQ(claim.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(AddressClaim, RefusesWhatIsClaimedAlready) {
  const Folder folder;
  const Address address = *parse_address("unix:" + folder / "a.sock");
  auto first = AddressClaim::take(address);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(AddressClaim::take(address).ok());
  first->reset();
  EXPECT_TRUE(AddressClaim::take(address).ok());
}

TEST(AddressClaim, ReplacesASocketNobodyListensOn) {
  const Folder folder;
  const std::string path = folder / "stale.sock";
  close(bound_socket(path, false));
  const auto claim = AddressClaim::take(*parse_address("unix:" + path));
  EXPECT_TRUE(claim.ok()) << claim.status();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace assay::server
