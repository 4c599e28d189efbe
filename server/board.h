// What is alive in the daemon: devices, their queues, and the progress of experiments that are not
// final. One lock over all of it, never held over a call to the store or a runner.
#pragma once

#include "proto/assay.pb.h"
#include "server/plan.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace assay::server {

class Board {
 public:
  // What a device's worker does next.
  struct Job {
    enum class Kind : std::uint8_t { kProbe, kExperiment, kStop };
    Kind kind = Kind::kStop;
    std::int64_t experiment_id = 0;
  };

  struct Change {
    std::uint64_t version = 0;
    bool live = false;  // queued or running here
    bool closed = false;
  };

  // `devices` as they are before anything is known of them.
  explicit Board(const std::vector<v1::Device>& devices);

  // Nothing starts any more; everything that waits returns.
  void close();
  bool closed() const;

  // Devices. A name that is not there is a programmer's error but for has_device().
  bool has_device(const std::string& name) const;
  std::vector<std::string> device_names() const;
  // Waits until every runner has answered once, or `deadline`.
  v1::ListDevicesResponse devices(std::chrono::system_clock::time_point deadline) const;
  void set_described(const std::string& device, Description description);
  void set_unavailable(const std::string& device, const std::string& reason);
  void set_restarts(const std::string& device, std::uint32_t num, const std::string& failure);

  // Waits until the device has been asked. One that is unavailable and idle is asked again.
  // FAILED_PRECONDITION says why it is not available; DEADLINE_EXCEEDED that it is still starting.
  absl::StatusOr<Description> describe(const std::string& device,
                                       std::chrono::system_clock::time_point deadline);

  // What a device that has answered says of an operator; nullopt: none knows it.
  std::optional<v1::OperatorInfo> operator_info(const std::string& name) const;

  // The first device that is available now.
  std::optional<std::string> first_available() const;

  // The queue. `typical_ns` of a configuration, 0 unknown.
  void enqueue(const v1::Experiment& experiment, std::int64_t typical_ns);
  // What the daemon asked for itself comes last.
  Job next_job(const std::string& device);
  // What a running sweep makes way for: takes the first of the queue that is no sweep and somebody
  // asked for. Until its end() the sweep is set aside.
  std::optional<std::int64_t> take_before_sweep(const std::string& device);
  bool take_from_queue(std::int64_t experiment_id);
  void put_back(std::int64_t experiment_id);

  // Marks a running one as to be cancelled and names its device; nullopt when it does not run, or
  // is set aside, and then ends before its next configuration.
  std::optional<std::string> ask_to_cancel(std::int64_t experiment_id);
  bool cancel_asked(std::int64_t experiment_id) const;

  void set_progress(std::int64_t experiment_id, std::uint32_t num_finished, double progress);
  // Why a running one does not go on; shown as its message.
  void set_waiting(std::int64_t experiment_id, const std::string& why);
  void end(std::int64_t experiment_id);

  // Queue position, estimate and progress of one that is alive here.
  void overlay(v1::Experiment& experiment) const;

  // Waits for a version other than `seen`, for the end or for close(), at most `bound`. Mere
  // progress is gathered for kShowInterval, so that many changes are one.
  Change wait_for_change(std::int64_t experiment_id,
                         std::uint64_t seen,
                         std::chrono::milliseconds bound) const;
  bool wait_for_end(std::int64_t experiment_id, std::chrono::milliseconds bound) const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Live {
    std::string device;
    std::uint32_t num_configurations = 0;
    std::uint32_t num_finished = 0;
    double progress = 0;
    std::string waiting;  // empty: it is at work
    std::int64_t typical_ns = 0;
    bool cancel = false;
    bool is_sweep = false;
    bool is_own = false;  // asked for by the daemon itself
    std::uint64_t version = 1;
    std::uint64_t urgent = 1;  // the last version that is shown at once
    Clock::time_point started;
  };

  struct DeviceState {
    v1::Device device;
    std::vector<v1::OperatorInfo> operators;
    bool asked = false;  // its runner has answered, or failed to
    bool probe = true;   // to be asked (again)
    std::deque<std::int64_t> queue;
    std::int64_t running = 0;
    std::int64_t set_aside = 0;  // the sweep that waits for `running`
  };

  // Under the lock. Nullopt: unknown.
  std::optional<std::int64_t> remaining_ns(const Live& live, bool running) const;
  void bump(Live& live, bool urgent);
  void bump_queue(const DeviceState& state);
  // The first that somebody asked for, else the first; the queue is not empty.
  std::int64_t take_next(DeviceState& state) const;
  absl::StatusOr<Description> description_of(const DeviceState& state) const;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool closed_ = false;
  std::vector<std::string> names_;  // in the configuration's order
  std::map<std::string, DeviceState> devices_;
  std::map<std::int64_t, Live> live_;
};

}  // namespace assay::server
