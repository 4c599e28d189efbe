# Headers of others that most sources of a library include, compiled once for all libraries with the same flags. A source
# still includes what it uses: preset dev and scripts/tidy.sh compile without any of this.
#
# assay_precompile(NAME KIND LIBS HEADERS) makes the target NAME that holds them; KIND is of what reuses them, OBJECT for
# libraries and EXECUTABLE for programs, since position-independent code differs between the two.
# assay_reuse_headers(TARGET NAME) makes the C++ sources of TARGET use them.
function(assay_precompile_options target)
  # The compiler cache keeps what uses precompiled headers with the first only; the second makes all alike.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess;-pthread>)
endfunction()

function(assay_precompile name kind)
  cmake_parse_arguments(arg "" "" "LIBS;HEADERS" ${ARGN})
  set(source ${PROJECT_SOURCE_DIR}/cmake/headers.cpp)
  if(kind STREQUAL "EXECUTABLE")
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${name} PRIVATE assay_build ${arg_LIBS})
  assay_precompile_options(${name})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

function(assay_reuse_headers target name)
  assay_precompile_options(${target})
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

set(assay_standard_headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string>
                           <vector> <absl/status/statusor.h> <absl/strings/str_cat.h>)
set(assay_message_headers ${assay_standard_headers} <absl/strings/str_join.h> <proto/assay.pb.h> <proto/runner.pb.h>)
