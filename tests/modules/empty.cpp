// A shared library that is no module.
namespace {

[[maybe_unused]] int nothing = 0;

}  // namespace
