// Commands as they are typed, against a daemon that answers from a script.
#pragma once

#include "client/commands.h"
#include "tests/client/fake_service.h"
#include "tests/client/fixtures.h"

#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace assay::client {

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    service_.result = made_up_comparison();
    v1::Device& device = *service_.device_list.add_devices();
    device.set_name("cpu");
    device.set_backend("cpu");
    device.set_available(true);
    v1::OperatorInfo& info = *service_.operator_list.add_operators();
    info.set_name("qsa_decode");
    info.add_variants()->set_name("one_cell");
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    address_ = "127.0.0.1:" + std::to_string(port);
  }

  int run_with(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return run(arguments,
               {.in = in_,
                .out = out_,
                .err = err_,
                .default_address = address_,
                .version = "1.2.3",
                .interrupter = &interrupter_});
  }

  std::string out() const { return out_.str(); }

  static std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string err() const { return err_.str(); }

  bool said(const std::string& text) const {
    return err().find(text) != std::string::npos || out().find(text) != std::string::npos;
  }

  FakeService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  Interrupter interrupter_;
};

}  // namespace assay::client
