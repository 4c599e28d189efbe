add_library(
  assay_measure STATIC
  bits_verdict.cpp
  clocks.cpp
  digest.cpp
  drift.cpp
  modes.cpp
  module_file.cpp
  noise_floor.cpp
  notes.cpp
  poison.cpp
  rounds.cpp
  schedule.cpp
  statistics.cpp
  tensor.cpp
  time_verdict.cpp
  verdict.cpp)
add_library(assay::measure ALIAS assay_measure)
target_link_libraries(
  assay_measure
  PUBLIC assay_proto
  PRIVATE assay_build PkgConfig::xxhash)
assay_reuse_headers(assay_measure assay_profiler_headers)
