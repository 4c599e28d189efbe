-- From version 3: what passes of their own find out about a measurement, and ceilings of devices.
-- What passes of their own found out about a measurement, where there was one.
CREATE TABLE t_profile (
  measurement_id INTEGER PRIMARY KEY REFERENCES t_measurement ON DELETE CASCADE,
  min_flops INTEGER NOT NULL,
  admission TEXT CHECK (admission IS NULL OR json_valid(admission)),
  activity_stages TEXT NOT NULL CHECK (json_valid(activity_stages)),
  traced_blocks TEXT NOT NULL CHECK (json_valid(traced_blocks)),
  counters TEXT NOT NULL CHECK (json_valid(counters)),
  counters_missing TEXT NOT NULL
) STRICT;

-- What a device can do at most, of every BENCH. experiment_id is no foreign key: a ceiling outlives
-- the experiment that it came from.
CREATE TABLE t_ceiling (
  device_uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL CHECK (abs(value) < 9e999),
  unit TEXT NOT NULL,
  help TEXT NOT NULL,
  measured_ns INTEGER NOT NULL,
  experiment_id INTEGER NOT NULL,
  driver_version TEXT NOT NULL,
  toolkit_version TEXT NOT NULL,
  code_version TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (device_uuid, experiment_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX t_ceiling_experiment ON t_ceiling (experiment_id);
