// One configuration with its samples: why its verdict is what it is, every block of both arms, and its bits.
import { useMemo } from 'preact/hooks';
import { ExperimentSchema, type Configuration, type Experiment } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Chart } from '../charts/chart';
import { Loaded, useData } from '../data';
import { count, micros, percent, settings } from '../format';
import { Empty, Section, Table } from '../parts';
import { useTheme } from '../theme';
import { Bits } from './bits_detail';
import { blocksOf, blocksOption, hasClocks } from './blocks_option';
import { newest } from './stages_table';

function Explanation({ configuration }: { configuration: Configuration }) {
  const verdict = newest(configuration);
  if (!verdict) return null;
  const floor = verdict.hasNoiseFloor
    ? `noise of A against A ${percent(verdict.noiseFloor)}${
        verdict.noiseFloorExperimentId > 0n ? ` (experiment ${verdict.noiseFloorExperimentId})` : ''
      }`
    : 'noise of A against A not known';
  const judged = [
    `rule ${verdict.ruleVersion}`,
    `least effect ${percent(verdict.leastEffect)}`,
    floor + (verdict.noiseFloorStale && `, stale: ${verdict.noiseFloorStale}`),
    `golden: ${verdict.golden || 'not looked at'}`,
    verdict.identicalCode && 'both arms are the same machine code',
    verdict.baselineSmClockMhz > 0 && `SM clock of A ${verdict.baselineSmClockMhz} MHz, of B ${verdict.candidateSmClockMhz} MHz`,
    configuration.stoppedBecause && `stopped: ${configuration.stoppedBecause}`,
  ];
  return (
    <>
      <p class="quiet">{judged.filter(Boolean).join('; ')}</p>
      {verdict.stages.length > 0 && (
        <Table
          caption="What each stage's verdict rests on"
          rows={verdict.stages}
          columns={[
            { key: 'stage', title: 'stage', cell: (row) => row.stage },
            { key: 'rounds', title: 'rounds', numeric: true, cell: (row) => row.numRounds },
            { key: 'samples', title: 'samples', numeric: true, cell: (row) => count(row.numSamples) },
            { key: 'drift', title: 'drift of B', numeric: true, cell: (row) => (row.hasRatio ? percent(row.drift) : '–') },
            { key: 'bar', title: 'to be beyond', numeric: true, cell: (row) => (row.hasRatio ? percent(row.bar) : '–') },
            { key: 'coverage', title: 'coverage', numeric: true, cell: (row) => (row.hasRatio ? percent(row.coverage) : '–') },
            { key: 'bad', title: 'blocks left out', numeric: true, cell: (row) => row.numBadBlocks },
            { key: 'faults', title: 'faulty samples', numeric: true, cell: (row) => row.numFaults },
          ]}
          below={(row) => row.reason}
        />
      )}
    </>
  );
}

function Blocks({ configuration }: { configuration: Configuration }) {
  const theme = useTheme();
  const blocks = useMemo(() => blocksOf(configuration), [configuration]);
  const option = useMemo(() => blocksOption(blocks), [blocks, theme]);
  if (blocks.length === 0) {
    return <Empty>There are no times: the bits come first, or the samples were pruned.</Empty>;
  }
  return (
    <Chart
      label={`Times of a call, a box for each block in the order in which they ran: extremes, quartiles, median. ${
        blocks.some((block) => !block.isBaseline) ? 'A is orange and thick, B blue and thin; ' : ''
      }dotted: left out; triangle: it goes on beyond the scale`}
      option={option}
      height={hasClocks(blocks) ? 420 : 320}
      table={
        <Table
          caption="Blocks"
          rows={blocks}
          columns={[
            { key: 'round', title: 'round', numeric: true, cell: (row) => row.round + 1, sort: (row) => row.round },
            { key: 'arm', title: 'arm', cell: (row) => row.name, sort: (row) => row.name },
            { key: 'samples', title: 'samples', numeric: true, cell: (row) => row.numSamples },
            { key: 'low', title: 'lower quartile', numeric: true, cell: (row) => micros(row.box[1]) },
            { key: 'median', title: 'median', numeric: true, cell: (row) => micros(row.box[2]), sort: (row) => row.box[2] },
            { key: 'high', title: 'upper quartile', numeric: true, cell: (row) => micros(row.box[3]) },
            { key: 'clock', title: 'SM clock', numeric: true, cell: (row) => (row.clock ? `${row.clock} MHz` : '–') },
            { key: 'left', title: 'left out', cell: (row) => row.leftOut },
          ]}
        />
      }
    />
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
          return (
            <>
              <p class="quiet">{settings(found.workload?.axes ?? [])}</p>
              <Explanation configuration={found} />
              <Blocks configuration={found} />
              <Bits configuration={found} />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
