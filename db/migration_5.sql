-- From version 4: why a configuration does not rank, tuning tables, uploaded bytes, and what others
-- measured.
ALTER TABLE t_configuration
  ADD COLUMN failure TEXT NOT NULL DEFAULT 'FAILURE_CLASS_UNSPECIFIED';

-- What a sweep found best, the newest of each key. experiment_id is no foreign key: an entry
-- outlives the experiment that it came from.
CREATE TABLE t_tuning (
  device_model TEXT NOT NULL,
  compute_capability TEXT NOT NULL,
  operator_name TEXT NOT NULL,
  variant TEXT NOT NULL,
  workload TEXT NOT NULL,
  code_digest TEXT NOT NULL,
  toolkit_version TEXT NOT NULL,
  driver_version TEXT NOT NULL,
  arm TEXT NOT NULL CHECK (json_valid(arm)),
  median_ns INTEGER NOT NULL,
  baseline_arm TEXT CHECK (baseline_arm IS NULL OR json_valid(baseline_arm)),
  ratio REAL NOT NULL CHECK (abs(ratio) < 9e999),
  ratio_low REAL NOT NULL CHECK (abs(ratio_low) < 9e999),
  ratio_high REAL NOT NULL CHECK (abs(ratio_high) < 9e999),
  noise REAL NOT NULL CHECK (abs(noise) < 9e999),
  ties TEXT NOT NULL CHECK (json_valid(ties)),
  num_configurations INTEGER NOT NULL,
  num_valid INTEGER NOT NULL,
  num_failed INTEGER NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,
  experiment_id INTEGER NOT NULL,
  measured_ns INTEGER NOT NULL,
  code_version TEXT NOT NULL,
  device_uuid TEXT NOT NULL,
  cache_mode TEXT NOT NULL,
  launch_mode TEXT NOT NULL,
  PRIMARY KEY (operator_name, workload, variant, device_model, compute_capability, code_digest,
    toolkit_version, driver_version, cache_mode, launch_mode)
) STRICT, WITHOUT ROWID;

-- Bytes that requests refer to by their digest.
CREATE TABLE t_blob (
  digest TEXT PRIMARY KEY,
  num_bytes INTEGER NOT NULL,
  uploaded_ns INTEGER NOT NULL,
  data BLOB NOT NULL CHECK (length(data) = num_bytes)
) STRICT;

-- A file of another tool, and its rows.
CREATE TABLE t_recording (
  recording_id INTEGER PRIMARY KEY AUTOINCREMENT,
  format TEXT NOT NULL,
  file_name TEXT NOT NULL,
  name TEXT NOT NULL,
  device_name TEXT NOT NULL,
  objective TEXT NOT NULL,
  parameters TEXT NOT NULL CHECK (json_valid(parameters)),
  num_rows INTEGER NOT NULL,
  notes TEXT NOT NULL CHECK (json_valid(notes)),
  imported_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE t_recorded_row (
  recording_id INTEGER NOT NULL REFERENCES t_recording ON DELETE CASCADE,
  "row" INTEGER NOT NULL,
  name TEXT NOT NULL,
  "values" TEXT NOT NULL CHECK (json_valid("values")),
  samples_ns TEXT NOT NULL CHECK (json_valid(samples_ns)),
  has_time INTEGER NOT NULL,
  time_ns REAL NOT NULL CHECK (abs(time_ns) < 9e999),
  failure TEXT NOT NULL,
  message TEXT NOT NULL,
  metrics TEXT NOT NULL CHECK (json_valid(metrics)),
  PRIMARY KEY (recording_id, "row")
) STRICT, WITHOUT ROWID;
