// Health and reflection, as any gRPC tool asks for them: by name, with bytes.
#include "tests/end_to_end/daemon_process.h"

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

#include <chrono>
#include <memory>

namespace assay {
namespace {

class StandardServices : public testing::Test {
 protected:
  // Opens a stream of either method, sends one message and returns the first reply.
  std::string ask(const std::string& method, const std::string& request) {
    grpc::GenericStub stub(
        grpc::CreateChannel("unix:" + (folder_ / "a.sock"), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    grpc::CompletionQueue queue;
    const auto stream = stub.PrepareCall(&context, method, &queue);
    const auto is_done = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    stream->StartCall(nullptr);
    EXPECT_TRUE(is_done());
    const grpc::Slice bytes(request);
    stream->WriteLast(grpc::ByteBuffer(&bytes, 1), grpc::WriteOptions(), nullptr);
    EXPECT_TRUE(is_done());
    grpc::ByteBuffer reply;
    stream->Read(&reply, nullptr);
    EXPECT_TRUE(is_done());
    grpc::Status status;
    stream->Finish(&status, nullptr);
    EXPECT_TRUE(is_done());
    EXPECT_TRUE(status.ok()) << status.error_message();
    grpc::Slice whole;
    EXPECT_TRUE(reply.DumpToSingleSlice(&whole).ok());
    return {whole.begin(), whole.end()};
  }

  Folder folder_;
  Daemon daemon_{{"--db",
                  folder_ / "a.db",
                  "--listen",
                  "unix:" + (folder_ / "a.sock"),
                  "--runner",
                  ASSAY_FAKE_RUNNER}};
};

TEST_F(StandardServices, SayThatTheDaemonServes) {
  // HealthCheckResponse.status = SERVING
  EXPECT_EQ(ask("/grpc.health.v1.Health/Check", ""), "\x08\x01");
}

TEST_F(StandardServices, ListTheApiByReflection) {
  // ServerReflectionRequest.list_services = "*"
  const std::string reply =
      ask("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "\x3a\x01*");
  EXPECT_NE(reply.find("assay.v1.Assay"), std::string::npos);
}

}  // namespace
}  // namespace assay
