// One sweep: winner and ties, where the time goes over its parameters, and what failed.
import {
  ExperimentSchema,
  ReceiptResponseSchema,
  TaskState,
  type Experiment,
  type ReceiptExperiment,
  type ReceiptRace,
} from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Chart } from '../charts/chart';
import { Loaded, refresh, useData, useEvery } from '../data';
import { count, duration, plural, settings, shared } from '../format';
import { A, Command, Empty, Page, Section, StateChip, Table, Tag } from '../parts';
import { setQuery, type ViewProps } from '../router';
import { Progress } from './experiment_rows';
import { axesOf, failuresOf, heatOption, parallelOption, untriedOf, workloadsOf, type Axis, type Try } from './sweep_options';
import { Ranking, Winners } from './sweep_race';

const pollMilliseconds = 3000;
const isOver = (experiment: Experiment) => experiment.state > TaskState.RUNNING;

function strategyOf({ spec }: Experiment): string {
  const sweep = spec?.sweep;
  const limits = [
    sweep?.maxConfigurations ? plural(sweep.maxConfigurations, 'configuration') : '',
    sweep?.budgetNs ? `${duration(sweep.budgetNs)} of running time` : '',
  ].filter(Boolean);
  return [sweep?.strategy || 'exhaustive', ...limits.map((limit) => `at most ${limit} a workload`)].join(', ');
}

const listOf = (axes: Axis[]) => axes.map(({ name, values }) => `${name} ${values.join(', ')}`).join('; ');

interface ChartsProps {
  experiment: Experiment;
  tries: Try[];
  race?: ReceiptRace;
  query: URLSearchParams;
}

function Charts({ experiment, tries, race, query }: ChartsProps) {
  const axes = axesOf(tries);
  const untried = isOver(experiment) ? untriedOf(experiment, axes) : [];
  const missing = untried.length > 0 && `Asked for, and not tried: ${listOf(untried)}.`;
  const varied = axes.filter((axis) => axis.values.length > 1);
  const x = varied.find((axis) => axis.name === query.get('x')) ?? varied[0];
  const y = varied.find((axis) => axis.name === query.get('y') && axis !== x) ?? varied.find((axis) => axis !== x);
  if (!x) {
    return (
      <Empty>
        {plural(tries.length, 'configuration')} tried, so nothing varies. {missing}
      </Empty>
    );
  }
  const pick = (name: 'x' | 'y', value?: string) => (
    <label>
      {name === 'x' ? 'across' : 'down'}{' '}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {varied.map((axis) => (
          <option key={axis.name}>{axis.name}</option>
        ))}
      </select>
    </label>
  );
  const fixed = axes.filter((axis) => axis.values.length === 1);
  return (
    <>
      <p class="quiet">
        Each was timed next to the best so far, and the ratio decides; medians are of different moments.
        {fixed.length > 0 && ` The same in all: ${fixed.map((axis) => `${axis.name}=${axis.values[0]}`).join(', ')}.`}{' '}
        {missing}
      </p>
      {y && (
        <>
          <p class="actions">
            {pick('x', x.name)} {pick('y', y.name)}
          </p>
          <Chart
            label={`Median time over ${x.name} and ${y.name}; of the others the best. Empty: nothing there may rank`}
            option={heatOption(tries, x, y)}
            height={136 + 34 * y.values.length}
          />
        </>
      )}
      <Chart
        label="Every configuration that may rank, a line each, coloured by its time"
        option={parallelOption(tries, varied)}
        height={360}
        table={<Ranking race={race} tries={tries} />}
      />
    </>
  );
}

interface Sweep {
  experiment: Experiment;
  receipt?: ReceiptExperiment; // of one that has ended
}

function Results({ experiment, receipt, query }: Sweep & { query: URLSearchParams }) {
  const workloads = workloadsOf(experiment);
  const workload = workloads.find((each) => each.text === query.get('workload')) ?? workloads[0];
  const races = receipt?.races ?? [];
  const axes = shared(races.map((race) => race.workload?.axes ?? []));
  const id = experiment.experimentId;
  return (
    <>
      <p class="quiet">
        {workloads.length === 1 ? workload?.text : axes.same.length > 0 && `every workload: ${settings(axes.same)}`}
      </p>
      {races.length > 0 ? (
        <Winners races={races} rest={axes.rest} />
      ) : (
        <Empty>
          {isOver(experiment) ? 'Nothing was tried.' : 'Who won is told when the sweep ends. Who leads:'}{' '}
          {!isOver(experiment) && <Command text={`assay show ${id}`} />}
        </Empty>
      )}
      {workload ? (
        <Section title="Over the parameters">
          {workloads.length > 1 && (
            <p class="actions">
              <label>
                workload{' '}
                <select value={workload.text} onChange={(event) => setQuery({ workload: event.currentTarget.value })}>
                  {workloads.map((each) => (
                    <option key={each.text} value={each.text}>
                      {settings(axes.rest(each.axes)) || each.text}
                    </option>
                  ))}
                </select>
              </label>
            </p>
          )}
          <Charts
            experiment={experiment}
            tries={workload.tries}
            race={races.find((race) => settings(race.workload?.axes ?? []) === workload.text)}
            query={query}
          />
        </Section>
      ) : (
        experiment.numFinished > 0 && (
          <Empty>
            Its {plural(experiment.numFinished, 'configuration')} are more than fit here: <Command text={`assay show ${id}`} />
          </Empty>
        )
      )}
      <Section title="What failed">
        <Table
          caption="By class; a failure never ranks"
          rows={failuresOf(workloads.flatMap((each) => each.tries))}
          columns={[
            { key: 'class', title: 'class', cell: (row) => <Tag tone="bad">{row.name}</Tag> },
            { key: 'num', title: 'configurations', numeric: true, cell: (row) => count(row.num) },
            { key: 'first', title: 'the first', cell: (row) => row.firstArm },
            { key: 'message', title: 'what it said', cell: (row) => row.firstMessage },
          ]}
          empty={<Empty>Nothing failed.</Empty>}
        />
      </Section>
      {receipt && receipt.notRun.length > 0 && (
        <Section title="What was not run">
          <ul>
            {receipt.notRun.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

async function load(id: string | undefined, signal: AbortSignal): Promise<Sweep> {
  const experiment = await call('Get', ExperimentSchema, { experiment_id: id }, signal);
  if (!isOver(experiment)) return { experiment };
  const { receipt } = await call('Receipt', ReceiptResponseSchema, { experiment_ids: id }, signal);
  return { experiment, receipt: receipt?.experiments[0] };
}

export default function View({ params, query }: ViewProps) {
  const data = useData((signal) => load(params.id, signal), [params.id]);
  const isRunning = data.state === 'ready' && !isOver(data.value.experiment);
  useEvery(isRunning ? pollMilliseconds : 0, () => refresh(data));
  return (
    <Page title={`Sweep ${params.id ?? ''}`}>
      <Loaded data={data}>
        {({ experiment, receipt }) => (
          <>
            <p>
              {experiment.spec?.operatorName} {experiment.spec?.candidates[0]?.variant} on{' '}
              {experiment.device?.model || experiment.spec?.device}, {strategyOf(experiment)}{' '}
              <StateChip state={experiment.state} />{' '}
              <A href={`/experiments/${experiment.experimentId}`}>what was asked, and the receipt</A>
            </p>
            {isRunning && (
              <p role="status">
                <Progress experiment={experiment} />
              </p>
            )}
            <Results experiment={experiment} receipt={receipt} query={query} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
