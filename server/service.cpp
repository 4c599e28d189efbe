#include "server/service.h"

#include "server/assay_service.h"

namespace assay::server {

std::unique_ptr<v1::Assay::Service> make_service(Scheduler& scheduler, const Goldens& goldens) {
  return std::make_unique<AssayService>(scheduler, goldens);
}

}  // namespace assay::server
