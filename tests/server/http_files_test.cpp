#include "server/http_files.h"

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace assay::server {
namespace {

class HttpFilesTest : public testing::Test {
 protected:
  HttpFilesTest() {
    std::filesystem::create_directories(folder_ / "page/assets");
    write("page/index.html", "<p>");
    write("page/assets/index-BX3kd9Qa.js", "let a");
    write("page/favicon.svg", "<svg/>");
    write("page/notes.txt", "text");
    write("page/.secret.json", "{}");
    write("outside.json", "{}");
    std::filesystem::create_symlink(folder_ / "outside.json", folder_ / "page/link.json");
    std::filesystem::create_symlink(folder_ / "", folder_ / "page/up");
    std::filesystem::create_directory(folder_ / "page/folder.json");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  HttpAnswer get(const std::string& path, const std::string& known = "") const {
    return HttpFiles(folder_ / "page").answer(path, known);
  }

  static std::string header(const HttpAnswer& answer, const std::string& wanted) {
    for (const auto& [name, value] : answer.headers) {
      if (name == wanted) {
        return value;
      }
    }
    return "";
  }

  Folder folder_;
};

TEST_F(HttpFilesTest, GivesNothingOutsideTheFolder) {
  for (const char* path : {"/../outside.json",
                           "/assets/../../outside.json",
                           "/up/outside.json",
                           "/link.json",
                           "/.secret.json",
                           "//outside.json",
                           "/./index.html",
                           "/assets//index-BX3kd9Qa.js",
                           "/..",
                           "/../x",
                           "/folder.json",
                           "/missing.js",
                           "/notes.txt",
                           "/index.html/"}) {
    const HttpAnswer answer = get(path);
    EXPECT_TRUE(answer.status == 404 || answer.body == "<p>") << path << ": " << answer.body;
    if (std::string(path).find(".json") != std::string::npos) {
      EXPECT_EQ(answer.status, 404) << path;
    }
  }
  EXPECT_EQ(get("/../x").status, 404);
  EXPECT_EQ(get("/notes.txt").status, 404);
}

TEST_F(HttpFilesTest, GivesThePageForPlacesWithinIt) {
  for (const char* path : {"/", "/experiments/12", "/index.html", "/trend/"}) {
    const HttpAnswer answer = get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.body, "<p>") << path;
    EXPECT_EQ(answer.content_type, "text/html; charset=utf-8");
    EXPECT_EQ(header(answer, "Cache-Control"), "no-cache");
  }
}

TEST_F(HttpFilesTest, LetsHashedNamesBeKept) {
  const HttpAnswer answer = get("/assets/index-BX3kd9Qa.js");
  EXPECT_EQ(answer.body, "let a");
  EXPECT_EQ(answer.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(header(answer, "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST_F(HttpFilesTest, SaysThatAFileIsTheSame) {
  const std::string tag = header(get("/favicon.svg"), "ETag");
  EXPECT_EQ(get("/favicon.svg", tag).status, 304);
  EXPECT_EQ(get("/favicon.svg", "W/\"other\"").status, 200);
  write("page/favicon.svg", "<svg>2</svg>");
  EXPECT_EQ(get("/favicon.svg", tag).body, "<svg>2</svg>");
}

TEST(HttpFiles, SaysThatThePageIsNotBuilt) {
  const HttpAnswer answer = HttpFiles("").answer("/", "");
  EXPECT_EQ(answer.status, 404);
  EXPECT_NE(answer.body.find("npm run build"), std::string::npos);
}

}  // namespace
}  // namespace assay::server
