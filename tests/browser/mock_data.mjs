// Made-up answers of the daemon, as proto JSON: what a GPU and months of runs would give, under hostile names.
export const hostile = {
  image: '<img src=x onerror=alert(1)>',
  script: '</script><script>alert(1)</script>',
  quotes: `"'\`&lt;`,
};

const minute = 60n * 1_000_000_000n;
const start = 1_767_225_600n * 1_000_000_000n;
const at = (minutes) => String(start + BigInt(minutes) * minute);
const settings = (all) => Object.entries(all).map(([name, value]) => ({ name, value: String(value) }));
const digest = (seed) => seed.toString(16).padStart(2, '0').repeat(16);
// Neither random nor smooth, and the same each time.
const wobble = (place) => ((place * 7919) % 101) / 101 - 0.5;

const ceiling = (name, value, unit, help) => ({ name, value, unit, help, experiment_id: '7', measured_ns: at(7) });

const device = {
  name: 'gpu0',
  backend: 'cuda',
  available: true,
  model: `Made-up GPU ${hostile.quotes}`,
  uuid: 'GPU-00000000-1111-2222-3333-444444444444',
  compute_capability: '9.0',
  num_multiprocessors: 132,
  memory_bytes: String(141n << 30n),
  l2_bytes: String(50n << 20n),
  driver_version: '580.1',
  toolkit_version: '13.0',
  code_version: '0.1.0',
  queue_length: 1,
  running_experiment_id: '12',
  ceilings: [
    ceiling('read', 4.1e12, 'bytes/s', 'reads of device memory'),
    ceiling('fp32', 6.1e13, 'flop/s', 'fused multiply-adds'),
    ceiling('bf16', 7.9e14, 'flop/s', 'tensor cores'),
    ceiling('launch', 2100, 'ns', 'an empty kernel'),
  ],
};

const axes = (width) => settings({ kv: 'int8', n_q: 1, streams: 1, width });
const one = { variant: 'one_cell', parameters: settings({ warps: 4 }) };
const two = { variant: `two_cell ${hostile.image}`, parameters: settings({ warps: 8, stages: 2 }) };

function measurement(arm, median, seed) {
  const rounds = 12;
  const calls = 5;
  const isBaseline = arm === one;
  const blocks = Array.from({ length: isBaseline ? rounds : 2 * rounds }, (_, place) => {
    const round = isBaseline ? place : Math.floor(place / 2);
    const leg = isBaseline ? 1 : (place % 2) * 2;
    const disqualified = !isBaseline && place === 9;
    return {
      round,
      leg,
      num_calls: calls,
      sm_clock_mhz: disqualified ? 1410 : 1980,
      disqualified,
      disqualified_because: disqualified ? 'the clock was 1410 MHz' : '',
      started_ns: String(1_000_000 * (round * 3 + leg + 1)),
    };
  });
  return {
    arm,
    family: 'baseline',
    code_digest: digest(seed + 64),
    timing_source: 'CUPTI_ACTIVITY',
    launch_mode: 'STREAM',
    cache_mode: 'COLD',
    blocks,
    stages: [
      {
        stage: 'total',
        samples_ns: Array.from({ length: blocks.length * calls }, (_, place) =>
          String(Math.round(median * (place % 13 === 5 ? 40 : 1 + 0.02 * wobble(place + seed)))),
        ),
      },
    ],
    outputs: [{ tensor: 'out', digest: digest(seed), dtype: 'f32', shape: ['1', '16', '128'] }],
    bits: { tolerance_used: 0.25, tolerance_known: true, num_runs: 3, num_digests: 1 },
    min_bytes: '34000000',
    min_flops: '540000000',
    floor_ns: '8300',
    resources: [{ stage: 'chunk', kernel: `chunk_kernel${hostile.script}`, num_registers: 96, occupancy: 0.5 }],
  };
}

function stage(name, verdict, ratio, baseline) {
  const candidate = baseline * ratio;
  return {
    ...{ stage: name, verdict, statistical_verdict: verdict, has_ratio: true, ratio, ratio_low: ratio - 0.004 },
    ...{ ratio_high: ratio + 0.005, coverage: 0.99, num_rounds: 12, drift: 0.002, bar: 0.01, num_good_blocks: 35 },
    ...{ num_bad_blocks: 1, num_samples: 175, reason: `the interval lies beyond the bar ${hostile.quotes}` },
    baseline_median_ns: String(Math.round(baseline)),
    candidate_median_ns: String(Math.round(candidate)),
    baseline_lower_quartile_ns: String(Math.round(baseline * 0.99)),
    baseline_upper_quartile_ns: String(Math.round(baseline * 1.01)),
    candidate_lower_quartile_ns: String(Math.round(candidate * 0.99)),
    candidate_upper_quartile_ns: String(Math.round(candidate * 1.01)),
  };
}

function comparison(place, width, verdict, ratio, more = {}) {
  const baseline = 4.2 * width;
  return {
    configuration: place,
    workload: { axes: axes(width), seed: '0' },
    baseline_arm: one,
    candidate_arm: two,
    outcome: 'FINISHED',
    baseline: measurement(one, baseline, 17),
    candidate: measurement(two, baseline * ratio, more.drift ? 34 : 17),
    stopped_because: 'verdict reached',
    verdicts: [
      {
        ...{ rule_version: 3, verdict, statistical_verdict: verdict, judged_ns: at(12), least_effect: 0.01 },
        ...{ has_noise_floor: true, noise_floor: 0.004, reason: more.reason ?? 'all rounds agree' },
        ...{ bits_equal: !more.drift, rejected_by: more.drift ? 'BITS_EQUAL' : undefined, golden: 'reproduced' },
        stages: [stage('total', verdict, ratio, baseline), stage('chunk', verdict, ratio * 0.98, baseline * 0.8)],
      },
    ],
  };
}

const context = {
  commit: 'abcdef0123456789',
  branch: `main ${hostile.script}`,
  dirty: true,
  labels: [{ name: `label ${hostile.image}`, value: hostile.script }],
  note: `note ${hostile.image}`,
};

function experiment(id, kind, more = {}) {
  const { spec, ...rest } = more;
  return {
    experiment_id: String(id),
    request_id: `request-${id}`,
    state: 'DONE',
    submitted_ns: at(id),
    started_ns: at(id),
    finished_ns: at(id + 1),
    num_configurations: 1,
    num_finished: 1,
    device,
    ...rest,
    spec: { kind, operator_name: 'qsa_decode', device: 'gpu0', baseline: one, candidates: [two], context, ...spec },
  };
}

const mutants = ['drops_last_strip', 'scale_off', `mask_off ${hostile.image}`].map((name, place) => ({
  configuration: place + 1,
  outcome: 'FINISHED',
  check: {
    ...{ suite: 'mutants', name, summary: 'a planted defect', num_cases: '128', num_differing: '97' },
    ...{ passed: place !== 2, rejected_by: place === 2 ? undefined : 'BITS_EQUAL', detail: 'out[0, 3, 17] differs' },
  },
}));

const suites = ['forms', 'portable'].map((name, place) => ({
  configuration: mutants.length + place + 1,
  outcome: 'FINISHED',
  check: {
    ...{ suite: 'parity', name, num_cases: place ? '0' : '12', passed: true, arms: [two.variant, 'staged:slots=1'] },
    not_run: place ? `no variant ${hostile.image}; valid: ${'one_of_many, '.repeat(12)}` : '',
  },
}));

export const tries = [];
for (const threads of [64, 128, 256, 512]) {
  for (const cells of [1, 2, 4, 8]) {
    for (const stages of [2, 3]) {
      const arm = { variant: 'two_cell', parameters: settings({ threads, cells, stages, merge: 'bounded' }) };
      const tooMany = threads * cells > 2048;
      const isWrong = threads === 64 && cells === 8;
      const ratio = 1 + 0.08 * Math.abs(Math.log2(threads / 256)) + 0.05 * Math.abs(Math.log2(cells / 4)) + stages / 100;
      tries.push({
        ...{ configuration: tries.length + 1, workload: { axes: axes(2048) }, baseline_arm: one, candidate_arm: arm },
        outcome: tooMany ? 'REFUSED' : 'FINISHED',
        failure: tooMany ? 'RESOURCES' : isWrong ? 'BIT_DRIFT' : undefined,
        message: tooMany ? `too many resources requested ${hostile.image}` : '',
        verdicts: tooMany ? [] : [{ verdict: 'SAME', reason: 'other bits', stages: [stage('total', 'SAME', ratio, 8600)] }],
      });
    }
  }
}
const winner = { variant: 'two_cell', parameters: settings({ threads: 256, cells: 4, stages: 2, merge: 'bounded' }) };
// Faster by its median, and not to be told from the winner: who was there first stays.
const tied = { variant: 'two_cell', parameters: settings({ threads: 256, cells: 4, stages: 3, merge: 'bounded' }) };

// Wider than a telephone.
const spreadAxes = (isLong) => [...axes(2048), { name: 'spread', value: isLong ? 'from_first_to_last_of_'.repeat(4) : 'none' }];
// Of a sweep that began with all of `tries`, the ranking of the best two.
const contender = (configuration, arm, standing, median, more) => ({
  ...{ configuration, arm, standing, median_ns: String(median), ratio: 1, ratio_low: 1, ratio_high: 1, has_interval: true },
  ...more,
});
const race = (on, more) => ({
  ...{ workload: { axes: on }, baseline: one, num_tried: tries.length, num_valid: tries.length - 5, noise: 0.011 },
  ...{ standings: [{ label: 'winner', num: '1' }, { label: 'tied', num: '3' }, { label: 'failed', num: '6' }] },
  ...{ has_winner: true, ratio: 0.91, has_interval: true, ratio_low: 0.905, ratio_high: 0.916 },
  ranking: [
    contender(21, winner, 'winner', 8772),
    contender(22, tied, 'tied', 8701, { ratio: 0.996, ratio_low: 0.985, ratio_high: 1.004 }),
    contender(5, tries[4].candidate_arm, 'dropped', 9998, { has_interval: false, ratio: 1.14, message: `dropped ${hostile.image}` }),
  ],
  ...more,
});
const sweepReceipt = (races, notRun) => ({ experiments: [{ kind: 'SWEEP', races, not_run: notRun }] });
// By the number of the sweep.
export const sweepReceipts = {
  8: sweepReceipt([race(axes(2048))], [`hardware counters ${hostile.image}`]),
  4: sweepReceipt([race(spreadAxes(false)), race(spreadAxes(true), { has_winner: false, ranking: [], may_go_on: true })], []),
  3: sweepReceipt([race(axes(2048), { num_tried: 1, standings: [], ratio: 0.689, ratio_low: 0.433, ratio_high: 1.243 })], []),
};

export const running = experiment(12, 'COMPARE', {
  ...{ state: 'RUNNING', finished_ns: '0', num_configurations: 4, num_finished: 1, progress: 0.5 },
  estimate_ns: '90000000000',
});
const compared = [comparison(1, 2048, 'FASTER', 0.91), comparison(2, 32768, 'SAME', 1.001)];
export const finished = { ...running, state: 'DONE', finished_ns: at(20), num_finished: 4, worst_verdict: 'FASTER', configurations: compared };

const drift = {
  ...{ tensor: 'out', num_elements: '2048', num_differing: '5', first_index: ['0', '3', '17'], expected_bits: '3f800000' },
  ...{ found_bits: '3f800001', expected_value: '1', found_value: '1.0000001', max_ulp: '1', drift_class: 'ULP_SIZED' },
};
const drifted = comparison(1, 2048, 'REJECTED', 0.85, { drift, reason: `5 of 2,048 elements of \`out\` differ ${hostile.quotes}` });
drifted.candidate.bits = { failed: 'BITS_EQUAL', detail: '5 of 2,048 elements of `out` differ', drift };

const alone = comparison(1, 2048, 'NOT_JUDGED', 1, { reason: 'one arm alone' });
delete alone.candidate;
const untimed = comparison(1, 2048, 'REJECTED', 1, { reason: 'the baseline failed its own checks' });
for (const arm of [untimed.baseline, untimed.candidate]) Object.assign(arm, { blocks: [], stages: [] });
untimed.verdicts[0].stages = [];

export const experiments = [
  running,
  experiment(11, 'COMPARE', { worst_verdict: 'SAME', num_configurations: 2, num_finished: 2, configurations: compared }),
  experiment(10, 'COMPARE', { worst_verdict: 'REJECTED', configurations: [drifted] }),
  experiment(9, 'CHECK', { spec: { suite: 'mutants' }, configurations: [...mutants, ...suites] }),
  experiment(8, 'SWEEP', {
    ...{ num_configurations: tries.length, num_finished: tries.length, configurations: tries },
    spec: { candidates: [{ variant: 'two_cell' }], sweep: { strategy: 'random' } },
  }),
  experiment(7, 'BENCH', { spec: { operator_name: '' }, configurations: [{ configuration: 1, ceilings: device.ceilings }] }),
  experiment(6, 'MEASURE', {
    spec: { operator_name: `operator ${hostile.image}`, baseline: { variant: hostile.script }, candidates: [] },
  }),
  experiment(5, 'COMPARE', { state: 'FAILED', num_finished: 0, message: `the runner died ${hostile.image}` }),
  experiment(4, 'SWEEP', {
    ...{ worst_verdict: 'SLOWER', state: 'CANCELLED', spec: { sweep: {} } },
    configurations: [false, true].flatMap((isLong) => tries.map((each) => ({ ...each, workload: { axes: spreadAxes(isLong) } }))),
  }),
  experiment(3, 'SWEEP', {
    spec: { sweep: { budget_ns: '4000000000' }, axes: [{ name: 'cells', values: ['2', '4', '8'] }, { name: 'width', values: ['2048'] }] },
    configurations: [tries[2]],
  }),
  experiment(2, 'MEASURE', {
    device: { ...device, backend: 'cpu', ceilings: device.ceilings.slice(0, 1) },
    spec: { candidates: [] },
    configurations: [alone],
  }),
  experiment(1, 'COMPARE', { worst_verdict: 'REJECTED', configurations: [untimed] }),
];

export const series = {
  ...{ series_id: '1', device_uuid: device.uuid, device_model: device.model, operator_name: 'qsa_decode', stage: 'total' },
  ...{ workload: 'kv=int8,n_q=1,streams=1,width=2048,seed=0', variant: 'two_cell', arm: `two_cell:warps=8 ${hostile.image}` },
  ...{ cache_mode: 'COLD', launch_mode: 'STREAM', timing_source: 'CUPTI_ACTIVITY', num_points: 60, newest_experiment_id: '11' },
};
const points = Array.from({ length: 60 }, (_, place) => {
  const level = place < 22 ? 9200 : place < 41 ? 8100 : 8600;
  const median = Math.round(level * (1 + 0.012 * wobble(place)));
  return {
    ...{ experiment_id: String(100 + place), configuration: 1, role: 'candidate', measured_ns: at(60 * place), num_samples: 175 },
    ...{ median_ns: String(median), lower_quartile_ns: String(median - 40), upper_quartile_ns: String(median + 60) },
    ...{ code_digest: digest(place < 22 ? 1 : place < 41 ? 2 : 3), bits_digest: digest(place < 30 ? 170 : 187), num_registers: 96 },
    ...{ rejected: place === 30, commit: `${(0xabc000 + place).toString(16)}${'0'.repeat(10)}`, dirty: place === 50, family: 'baseline' },
  };
});
const lowest = points.reduce((low, { median_ns }, place) => (Number(median_ns) < Number(points[low].median_ns) ? place : low), 0);
export const trend = {
  series,
  points,
  segments: [
    { first: 0, last: 21, level_ns: '9200', noise: 0.006 },
    { first: 22, last: 40, level_ns: '8100', noise: 0.006 },
    { first: 41, last: 59, level_ns: '8600', noise: 0.006 },
  ],
  change_points: [
    { first: 22, ratio: 0.8804, ratio_low: 0.874, ratio_high: 0.887 },
    { first: 41, ratio: 1.0617, ratio_low: 1.055, ratio_high: 1.068 },
  ],
  events: [
    { kind: 'CODE_CHANGED', experiment_id: '122', point: 22, detail: `machine code ${hostile.script}` },
    { kind: 'BITS_CHANGED', experiment_id: '130', point: 30, detail: 'other bits' },
    { kind: 'BITS_ACCEPTED', experiment_id: '131', point: 31, detail: 'epoch 2' },
    ...[2, 1, 0].map((before) => ({
      ...{ kind: 'CODE_CHANGED', experiment_id: String(100 + lowest - before), point: lowest - before, detail: 'close to the axis' },
    })),
    { kind: 'ENVIRONMENT_CHANGED', experiment_id: '141', point: 41, detail: 'driver 570.1 to 580.1' },
  ],
  noise: 0.006,
};

const regression = (id, state, more) => ({
  ...{ regression_id: String(id), series, state, reason: `a run of the same code is as slow ${hostile.quotes}` },
  ...{ experiment_id: '141', previous_experiment_id: '140', commit: 'abc02900', previous_commit: 'abc02800', ratio: 1.0617 },
  ...{ ratio_low: 1.055, ratio_high: 1.068, before_ns: '8100', after_ns: '8600', detected_ns: at(2460), changed_ns: at(2470) },
  ...more,
});
export const regressions = [
  regression(2, 'CONFIRMED'),
  regression(1, 'ACKNOWLEDGED', { acknowledged_reason: `wanted ${hostile.image}` }),
];

export const bits = [0, 1].map((place) => ({
  ...{ operator_name: 'qsa_decode', workload: `kv=int8,n_q=1,streams=1,width=${2048 << place},seed=0`, tensor: 'out' },
  ...{ family: 'baseline', device_uuid: device.uuid, device_model: device.model, digest: digest(170 + 17 * place) },
  ...{ first_experiment_id: '100', first_ns: at(0), last_experiment_id: '131', last_ns: at(1860), num_measurements: 31 },
  ...{ variants: ['one_cell', `two_cell ${hostile.image}`], epoch: String(place + 1), is_golden: place === 1 },
  ...{ reason: place ? `a fixed order of additions ${hostile.script}` : '', first_commit: 'abc00000' },
}));

export const tunings = [
  {
    ...{ device_model: device.model, operator_name: 'qsa_decode', workload: 'kv=int8,n_q=1,streams=1,width=2048', arm: winner },
    ...{ median_ns: '8772', baseline_arm: one, ratio: 0.91, ratio_low: 0.905, ratio_high: 0.916, noise: 0.011, ties: [tied] },
    ...{ num_configurations: tries.length, num_valid: 26, num_failed: 6, strategy: 'random', experiment_id: '99', measured_ns: at(9) },
    stale: `the driver is 580.1, not 570.1 ${hostile.image}`,
  },
];

export const recording = {
  ...{ recording_id: '1', format: 'kernel_tuner_cache', file_name: `cache ${hostile.image}.json`, name: 'convolution' },
  ...{ device_name: `A100 ${hostile.script}`, objective: 'time',
  parameters: ['block_size_x', 'tile', 'layout', 'order'], num_rows: 450 },
  ...{ notes: [`12 rows have no time ${hostile.quotes}`], imported_ns: at(3) },
};
export const recordedRows = Array.from({ length: 100 }, (_, place) => ({
  row: place + 1,
  values: [String(32 << place % 4), String(1 + (place % 3)), 'row_major', place % 2 ? 'xyz' : 'zyx'],
  samples_ns: place % 40 === 7 ? [] : [1e6 + 1000 * place, 1.1e6 + 1000 * place, 1.2e6 + 1000 * place],
  failure: place % 40 === 7 ? 'COMPILE' : undefined,
  message: place % 40 === 7 ? `ptxas ${hostile.image}` : '',
}));

export const devices = [
  device,
  { name: `cpu ${hostile.image}`, backend: 'cpu', available: false, reason: `the runner ended ${hostile.script}`, num_runner_restarts: 3 },
];

const value = (of) => (of === null ? {} : typeof of === 'number' ? { integer: String(of) } : { text: of });
export const rows = (columns, all) => ({ columns, rows: all.map((row) => ({ values: row.map(value) })) });
export const documented = rows(
  ['view', 'name', 'meaning'],
  [
    ['experiments', '', 'One request: what was asked.'],
    ['experiments', 'experiment_id', `Its number ${hostile.image}`],
    ['verdicts', '', 'One judgement of one stage.'],
  ],
);
export const receipt = {
  receipt: { format_version: 1, digest: digest(9) },
  markdown: `# Receipt\n\n${hostile.image} ${hostile.script}\n`,
};
