#include "server/http_watch.h"

#include "tests/server/fixture.h"

#include "google/protobuf/util/json_util.h"

namespace assay::server {
namespace {

// Everything until the end.
std::string rest(HttpWatch& watch) {
  std::string text = watch.next();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!watch.is_over() && std::chrono::steady_clock::now() < end) {
    text += watch.next();
  }
  EXPECT_TRUE(watch.is_over());
  return text;
}

v1::Experiment last_state(const std::string& text) {
  const std::size_t begin = text.rfind("data: {\"experiment_id\"");
  v1::Experiment experiment;
  if (begin == std::string::npos) {
    ADD_FAILURE() << text;
    return experiment;
  }
  const std::string line = text.substr(begin + 6, text.find('\n', begin) - begin - 6);
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &experiment).ok()) << line;
  return experiment;
}

TEST(HttpWatch, RefusesAnExperimentThatIsNotThere) {
  Daemon daemon;
  EXPECT_EQ(HttpWatch::open(daemon.scheduler(), 7).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(HttpWatch::open(daemon.scheduler(), -1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HttpWatch, EndsAfterTheFinalState) {
  Daemon daemon;
  const auto submitted = daemon.submit(compare_request("a"));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const auto watch = HttpWatch::open(daemon.scheduler(), 0);
  ASSERT_TRUE(watch.ok()) << watch.status();
  const std::string text = rest(**watch);
  EXPECT_EQ(last_state(text).state(), v1::DONE) << text;
  EXPECT_TRUE(text.ends_with("\n\nevent: end\ndata: {}\n\n")) << text;
}

TEST(HttpWatch, SaysThatTheDaemonEnds) {
  Daemon daemon;
  const auto submitted = daemon.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  daemon.wait_until_running(submitted->experiment_id());
  const auto watch = HttpWatch::open(daemon.scheduler(), submitted->experiment_id());
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_EQ(last_state((*watch)->next()).state(), v1::RUNNING);
  daemon.scheduler().stop();
  const std::string text = rest(**watch);
  // Marked as interrupted in time, or cut off before.
  EXPECT_TRUE(text.find("\"INTERRUPTED\"") != std::string::npos ||
              text.find("event: failed\ndata: {\"code\":\"UNAVAILABLE\"") != std::string::npos)
      << text;
}

}  // namespace
}  // namespace assay::server
