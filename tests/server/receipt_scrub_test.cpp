#include "server/receipt_scrub.h"

#include <gtest/gtest.h>

#include <utility>

namespace assay::server {
namespace {

v1::Device device_at(const std::string& name, const std::vector<std::string>& prefix) {
  v1::Device device;
  device.set_name(name);
  device.set_backend("cuda");
  device.set_model("NVIDIA H200");
  for (const std::string& argument : prefix) {
    device.add_launch_prefix(argument);
  }
  return device;
}

std::string scrubbed(const std::string& text) {
  return Scrub(v1::Device()).text(text);
}

// The folder of somebody, put together so that no source names a place.
const std::string kHome = std::string("/ho") + "me/alice";

TEST(Scrub, RemovesAbsolutePaths) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {kHome, "(path removed)"},
           {"in " + kHome + "/runs, again", "in (path removed), again"},
           {"cannot open `" + kHome + "/My Runs/x`", "cannot open `(path removed)`"},
           {kHome + "/k.cu:12:5: error", ".../k.cu:12:5: error"},
           {kHome + "/k.cu(12): error", ".../k.cu(12): error"},
           {"-I" + kHome + "/include -O2", "-I(path removed) -O2"},
           {"-DX=" + kHome, "-DX=(path removed)"},
           {"unix:/run/assay.sock", "unix:(path removed)"},
           {"/a:/b", "(path removed):(path removed)"},
           {"~/x ~bob/y", "(path removed) (path removed)"},
           {"C:\\Users\\alice\\k.cu(3)", ".../k.cu(3)"},
           {"\\\\server\\share\\x", "(path removed)"},
           {"#include </opt/x/y.h>", "#include <.../y.h>"},
           {"/" + kHome + "/secret/x", "(path removed)"},
           {"//server/share", "(path removed)"},
           {"///" + kHome.substr(1), "(path removed)"},
           {"a/" + kHome, "a(path removed)"},
           {"-I/" + kHome + "/inc", "-I(path removed)"},
           {"-isystem" + kHome + "/include", "-isystem(path removed)"},
           {"--sysroot" + kHome, "--sysroot(path removed)"},
           {kHome + "/My Documents/secret", "(path removed)"},
           {kHome + "/My Documents/of mine/secret, x", "(path removed), x"},
           {kHome + "/bin/nvcc src/k.cu", "(path removed) .../k.cu"},
           {kHome + "/inc -I/opt/x", "(path removed) -I(path removed)"},
           {kHome + "/k.cu: src/x", ".../k.cu: src/x"}}) {
    EXPECT_EQ(scrubbed(text), expected) << text;
  }
}

TEST(Scrub, RemovesHostsAddressesAndUsers) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"on node7.example.com.", "on (host removed)."},
           {"gpu1.lab.internal:22", "(host removed):22"},
           {"bob@gpu1", "(host removed)"},
           {"10.0.0.7", "(host removed)"},
           {"fe80::1ff:fe23:4567:890a", "(host removed)"},
           {"2001:db8::1", "(host removed)"},
           {"fe80::a1b2:c3d4", "(host removed)"},
           {"[fe80::1]:22", "[(host removed)]:22"},
           {"fe80::1%eth0", "(host removed)"},
           {"on [fe80::1%25eth0].", "on [(host removed)]."},
           {"2001:db8::/32", "(host removed)"},
           {"at 2001:db8::, or fe80::1: refused", "at (host removed), or (host removed): refused"},
           {"::1", "(host removed)"},
           {"::ffff:10.0.0.7", "(host removed)"},
           {"1:2:3:4:5:6:7:8", "(host removed)"},
           {"https://ci.example.org/run/3?x", "(host removed)"},
           {"x.y.de", "(host removed)"}}) {
    EXPECT_EQ(scrubbed(text), expected) << text;
  }
}

TEST(Scrub, LeavesWhatOnlyLooksLikeThem) {
  for (const char* text : {"4.62 TB/s",
                           "parity/int8 and/or n/a",
                           "1 / 2 // comment",
                           "0.571 [0.559, 0.584]",
                           "driver 580.159.04, toolkit 13.0.48",
                           "libx 10.0.17763.1",
                           "scale@0123abcd",
                           "scale@0123456789abcdef0123456789abcdef",
                           "kernel.cu torch.nn.functional sm__sass.avg.pct",
                           "std::vector<float> at 12:00:05",
                           "std::chrono ::global a::rows :: 1:2",
                           "rows//2 rows//tile //",
                           "-O3 -x/",
                           "../src/k.cu include/k.h",
                           "out[0, 3, 17]: expected 0x3f800000 (1)",
                           "origin/feature",
                           "n_q=1, width=2051"}) {
    EXPECT_EQ(scrubbed(text), text);
  }
}

TEST(Scrub, KnowsTheHostOfTheLaunchPrefix) {
  const Scrub scrub(device_at("bench", {"ssh", "-T", "alice@gpubox", "env", "X=1"}));
  EXPECT_EQ(scrub.text("ssh: connect to gpubox: gpubox2 bench env"),
            "ssh: connect to (host removed): gpubox2 (host removed) env");
  // A device that is called by its model tells no place.
  EXPECT_EQ(Scrub(device_at("h200", {})).text("h200 table"), "h200 table");
}

TEST(Scrub, MakesOneLineThatHidesNothing) {
  EXPECT_EQ(scrubbed("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(scrubbed("a\u202eb\u200bc\u2066d"), "a b c d");
  EXPECT_EQ(scrubbed("a\u0080b\u009bc\u009fd\u00a0e"), "a b c d\u00a0e");
  EXPECT_EQ(scrubbed("Größe \u2014 x"), "Größe \u2014 x");
}

TEST(Scrub, SaysWhatItCutsOff) {
  const std::string text = scrubbed(std::string(kMaxReceiptText - 1, 'a') + "ü" + "bcd");
  EXPECT_EQ(text, std::string(kMaxReceiptText - 1, 'a') + " (and 5 more bytes)");
}

TEST(Scrub, ReachesEveryTextOfAMessage) {
  v1::ReceiptExperiment receipt;
  receipt.set_label(kHome);
  receipt.add_not_run(kHome);
  receipt.mutable_context()->add_labels()->set_value(kHome);
  receipt.add_rows()->mutable_baseline()->mutable_bits()->mutable_drift()->set_tensor(kHome);
  receipt.set_request("0123456789abcdef0123456789abcdef");
  Scrub(v1::Device()).message(receipt);
  EXPECT_EQ(receipt.SerializeAsString().find("alice"), std::string::npos);
  EXPECT_EQ(receipt.label(), "(path removed)");
  EXPECT_EQ(receipt.request(), "0123456789abcdef0123456789abcdef");
}

}  // namespace
}  // namespace assay::server
