// The methods of history over a scheduler: what a run leaves in them, and what they refuse.
#include "server/service.h"
#include "tests/server/fixture.h"

#include "grpcpp/grpcpp.h"

namespace assay::server {
namespace {

using Stub = v1::Assay::Service;

class HistoryService : public testing::Test {
 protected:
  HistoryService() : service_(make_service(daemon_.scheduler(), daemon_.goldens())) {}

  template <class Method, class Request, class Reply>
  grpc::Status call(Method method, const Request& request, Reply& reply) {
    grpc::ServerContext context;
    return ((*service_).*method)(&context, &request, &reply);
  }

  Daemon daemon_;
  std::unique_ptr<v1::Assay::Service> service_;
};

TEST_F(HistoryService, HasAPointForEveryArmAndStageOfARun) {
  const v1::Experiment experiment = daemon_.run(compare_request("a"));
  ASSERT_EQ(experiment.state(), v1::DONE) << experiment.message();
  ASSERT_TRUE(daemon_.scheduler().history().wait_until_settled(kPatience));
  v1::ListSeriesRequest list;
  list.set_stage("all");
  v1::ListSeriesResponse series;
  ASSERT_TRUE(call(&Stub::ListSeries, list, series).ok());
  EXPECT_EQ(series.series_size(), 4);
  v1::TrendRequest request;
  request.set_operator_name("fake");
  request.set_variant("twin");
  v1::TrendResponse response;
  const grpc::Status status = call(&Stub::Trend, request, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.trends_size(), 1);
  EXPECT_EQ(response.trends(0).series().device_uuid(), "fake-uuid");
  EXPECT_EQ(response.trends(0).series().arm(), "twin:width=4");
  EXPECT_EQ(response.trends(0).points(0).experiment_id(), experiment.experiment_id());
  EXPECT_EQ(response.trends(0).points(0).measured_ns(), experiment.started_ns());
  EXPECT_EQ(response.trends(0).missing(), "not enough points (have 1, need 6)");
  v1::BitHistoryResponse bits;
  ASSERT_TRUE(call(&Stub::BitHistory, v1::BitHistoryRequest(), bits).ok());
  ASSERT_EQ(bits.entries_size(), 1);
  EXPECT_EQ(bits.entries(0).num_measurements(), 2U);
}

TEST_F(HistoryService, SaysWhatIsWrongWithARequest) {
  v1::TrendResponse trend;
  EXPECT_EQ(call(&Stub::Trend, v1::TrendRequest(), trend).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::ListSeriesRequest series;
  series.set_page_size(1'001);
  v1::ListSeriesResponse listed;
  EXPECT_EQ(call(&Stub::ListSeries, series, listed).error_message(),
            "page_size: must be at most 1,000");
  v1::ListRegressionsRequest regressions;
  regressions.set_page_token("x");
  v1::ListRegressionsResponse page;
  EXPECT_EQ(call(&Stub::ListRegressions, regressions, page).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::AcknowledgeRequest acknowledge;
  v1::Regression regression;
  EXPECT_EQ(call(&Stub::Acknowledge, acknowledge, regression).error_message(),
            "reason: must be 1 to 1,000 bytes");
  acknowledge.set_reason("known");
  EXPECT_EQ(call(&Stub::Acknowledge, acknowledge, regression).error_code(),
            grpc::StatusCode::NOT_FOUND);
  v1::BitHistoryRequest bits;
  bits.set_digest("xyz");
  v1::BitHistoryResponse history;
  EXPECT_EQ(call(&Stub::BitHistory, bits, history).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(HistoryService, TakesNoConfirmationFromOutside) {
  v1::SubmitRequest request = compare_request("a");
  request.mutable_spec()->set_confirms_regression_id(1);
  v1::Experiment experiment;
  const grpc::Status status = call(&Stub::Submit, request, experiment);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "spec.confirms_regression_id: is set by the daemon alone; leave it out");
}

}  // namespace
}  // namespace assay::server
