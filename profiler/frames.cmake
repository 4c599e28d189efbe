# Frames of the runner's protocol: the daemon and the runner both link it.
add_library(assay_frames STATIC frames.cpp)
add_library(assay::frames ALIAS assay_frames)
target_link_libraries(
  assay_frames
  PUBLIC absl::status protobuf::libprotobuf
  PRIVATE assay_build absl::strings)
