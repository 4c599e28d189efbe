// One configuration with its samples: every block of both arms, clocks, bits, and the figures of the verdict.
import {
  DriftClass,
  ExperimentSchema,
  type Configuration,
  type Drift,
  type Experiment,
  type Measurement,
} from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Chart } from '../charts/chart';
import { Loaded, useData } from '../data';
import { count, micros, percent, settings } from '../format';
import { Empty, Section, Table, Tag } from '../parts';
import { blocksOf, blocksOption } from './blocks_option';
import { newest } from './stages_table';

function DriftText({ drift }: { drift: Drift }) {
  return (
    <dl class="facts">
      <dt>differing</dt>
      <dd>
        {count(drift.numDiffering)} of {count(drift.numElements)} elements of {drift.tensor} (
        {(DriftClass[drift.driftClass] ?? '').toLowerCase().replaceAll('_', ' ')})
      </dd>
      <dt>first element</dt>
      <dd>
        {drift.tensor}[{drift.firstIndex.join(', ')}]: expected {drift.expectedValue} (<code>{drift.expectedBits}</code>),
        found {drift.foundValue} (<code>{drift.foundBits}</code>)
      </dd>
      <dt>largest distance</dt>
      <dd>{count(drift.maxUlp)} ulp</dd>
    </dl>
  );
}

function Bits({ configuration }: { configuration: Configuration }) {
  const arms: [string, Measurement | undefined][] = [
    ['A', configuration.baseline],
    ['B', configuration.candidate],
  ];
  const rows = arms.flatMap(([name, measurement]) =>
    (measurement?.outputs ?? []).map((output) => ({ name, output })),
  );
  return (
    <>
      <Table
        caption="Digests of outputs and intermediates"
        rows={rows}
        columns={[
          { key: 'arm', title: 'arm', cell: (row) => row.name },
          { key: 'tensor', title: 'tensor', cell: (row) => row.output.tensor },
          { key: 'digest', title: 'digest', cell: (row) => <code>{row.output.digest}</code> },
          { key: 'shape', title: 'shape', cell: (row) => `${row.output.dtype} [${row.output.shape.join(', ')}]` },
        ]}
        empty={<Empty>No digest was taken.</Empty>}
      />
      {arms.map(([name, measurement]) =>
        measurement?.bits && (measurement.bits.failed || measurement.bits.toleranceKnown) ? (
          <div key={name}>
            <p>
              {name}: {measurement.bits.failed ? <Tag tone="bad">{measurement.bits.detail}</Tag> : 'every check passed'}
              {measurement.bits.toleranceKnown && (
                <span class="quiet">
                  , worst share of the tolerance {percent(measurement.bits.toleranceUsed)} at{' '}
                  {measurement.bits.tolerancePlace}
                </span>
              )}
            </p>
            {measurement.bits.drift && <DriftText drift={measurement.bits.drift} />}
          </div>
        ) : null,
      )}
    </>
  );
}

function Explanation({ configuration }: { configuration: Configuration }) {
  const verdict = newest(configuration);
  if (!verdict) return null;
  return (
    <>
      <p>{verdict.reason}</p>
      <p class="quiet">
        rule {verdict.ruleVersion}, least effect {percent(verdict.leastEffect)},{' '}
        {verdict.hasNoiseFloor ? `A/A noise ${percent(verdict.noiseFloor)}` : 'no A/A noise stored'}
        {verdict.noiseFloorStale && ` (stale: ${verdict.noiseFloorStale})`}, golden: {verdict.golden || 'not looked at'}
        {verdict.identicalCode && ', both arms are the same machine code'}
        {configuration.stoppedBecause && `, stopped because: ${configuration.stoppedBecause}`}
      </p>
      <Table
        caption="What each stage's verdict rests on"
        rows={verdict.stages}
        columns={[
          { key: 'stage', title: 'stage', cell: (row) => row.stage },
          { key: 'rounds', title: 'rounds', numeric: true, cell: (row) => row.numRounds },
          { key: 'samples', title: 'samples', numeric: true, cell: (row) => count(row.numSamples) },
          { key: 'drift', title: 'drift of B', numeric: true, cell: (row) => percent(row.drift) },
          { key: 'bar', title: 'to be beyond', numeric: true, cell: (row) => percent(row.bar) },
          { key: 'coverage', title: 'coverage', numeric: true, cell: (row) => percent(row.coverage) },
          { key: 'bad', title: 'blocks left out', numeric: true, cell: (row) => row.numBadBlocks },
          { key: 'faults', title: 'faulty samples', numeric: true, cell: (row) => row.numFaults },
          { key: 'reason', title: 'reason', cell: (row) => row.reason },
        ]}
      />
    </>
  );
}

export function ConfigurationDetail({ experiment, configuration }: { experiment: Experiment; configuration: number }) {
  const data = useData(
    (signal) =>
      call(
        'Get',
        ExperimentSchema,
        { experiment_id: experiment.experimentId, configuration, include_samples: true },
        signal,
      ),
    [experiment.experimentId, configuration],
  );
  return (
    <Section title={`Configuration ${configuration}`}>
      <Loaded data={data}>
        {(answer) => {
          const found = answer.configurations[0];
          if (!found) return <Empty>It is not finished.</Empty>;
          const blocks = blocksOf(found);
          return (
            <>
              <p class="quiet">{settings(found.workload?.axes ?? [])}</p>
              <Explanation configuration={found} />
              {blocks.length === 0 ? (
                <Empty>No times: bits come first, or its samples were pruned.</Empty>
              ) : (
                <Chart
                  label="Times of a call, block by block in the order in which they ran: quartiles and extremes"
                  option={blocksOption(blocks)}
                  table={
                    <Table
                      caption="Blocks"
                      rows={blocks}
                      columns={[
                        { key: 'round', title: 'round', numeric: true, cell: (row) => row.round + 1, sort: (row) => row.round },
                        { key: 'arm', title: 'arm', cell: (row) => row.name, sort: (row) => row.name },
                        { key: 'median', title: 'median', numeric: true, cell: (row) => micros(row.box[2]), sort: (row) => row.box[2] },
                        { key: 'low', title: 'lower quartile', numeric: true, cell: (row) => micros(row.box[1]) },
                        { key: 'high', title: 'upper quartile', numeric: true, cell: (row) => micros(row.box[3]) },
                        { key: 'clock', title: 'SM clock', numeric: true, cell: (row) => (row.clock ? `${row.clock} MHz` : '–') },
                        { key: 'left', title: 'left out', cell: (row) => row.leftOut },
                      ]}
                    />
                  }
                />
              )}
              <h3>Bits</h3>
              <Bits configuration={found} />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
