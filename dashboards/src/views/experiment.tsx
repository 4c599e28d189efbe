// One experiment: what was asked, what came out, and why the verdicts are what they are.
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  ExperimentKind,
  ExperimentSchema,
  ReceiptResponseSchema,
  TaskState,
  type Experiment,
} from '../../generated/proto/assay_pb';
import { call, watch } from '../api';
import { Loaded, refresh, useData, useEvery } from '../data';
import { plural, rate, time } from '../format';
import { A, Command, Copy, Empty, Page, Section, StateChip, Table, VerdictChip } from '../parts';
import { Roofline } from '../parts/roofline';
import { setQuery, type ViewProps } from '../router';
import { ChecksTable } from './checks_table';
import { ConfigurationDetail } from './configuration_detail';
import { Facts } from './experiment_facts';
import { kindOf, Progress, verdictOf } from './experiment_rows';
import { StagesTable } from './stages_table';

const pollMilliseconds = 3000;

function Receipt({ id }: { id: bigint }) {
  const [asked, setAsked] = useState(false);
  const data = useData(
    (signal) =>
      asked
        ? call('Receipt', ReceiptResponseSchema, { experiment_ids: String(id) }, signal)
        : Promise.resolve(undefined),
    [asked, id],
  );
  if (!asked) {
    return (
      <button type="button" onClick={() => setAsked(true)}>
        Show the receipt
      </button>
    );
  }
  return (
    <Loaded data={data}>
      {(answer) =>
        answer ? (
          <>
            <p>
              <Copy text={answer.markdown} label="Copy the Markdown" />
            </p>
            <pre tabIndex={0}>{answer.markdown}</pre>
          </>
        ) : null
      }
    </Loaded>
  );
}

function Ceilings({ experiment }: { experiment: Experiment }) {
  return (
    <Section title="Ceilings of the device">
      <Table
        caption="The most that this device was seen to do"
        rows={experiment.configurations[0]?.ceilings ?? []}
        columns={[
          { key: 'name', title: 'ceiling', cell: (row) => <code>{row.name}</code>, sort: (row) => row.name },
          { key: 'value', title: 'value', numeric: true, cell: (row) => rate(row.value, row.unit) },
          { key: 'help', title: 'what it is', cell: (row) => row.help },
          { key: 'when', title: 'measured', cell: (row) => time(row.measuredNs) },
        ]}
        empty={<Empty>No ceiling was measured.</Empty>}
      />
    </Section>
  );
}

function Results({ experiment, query }: { experiment: Experiment; query: URLSearchParams }) {
  const kind = experiment.spec?.kind;
  const isOver = experiment.state > TaskState.RUNNING;
  const chosen = Math.trunc(Number(query.get('configuration'))) || 0;
  const detail = useRef<HTMLDivElement>(null);
  const last = useRef(chosen);
  // What a click asks for is brought into sight; what the address names stays where it is.
  useEffect(() => {
    if (last.current !== chosen) detail.current?.scrollIntoView();
    last.current = chosen;
  }, [chosen]);
  if (kind === ExperimentKind.SWEEP) {
    return (
      <p>
        <A href={`/sweeps/${experiment.experimentId}`}>The sweep: winner, ties, heat map</A>
      </p>
    );
  }
  if (experiment.configurations.length === 0) {
    return (
      <Empty>
        {experiment.numFinished > 0 ? (
          <>
            {plural(experiment.numFinished, 'configuration')} finished, which do not fit into one answer:{' '}
            <Command text={`assay show ${experiment.experimentId}`} />
          </>
        ) : isOver ? (
          'Nothing was finished.'
        ) : (
          'Nothing is finished yet.'
        )}
      </Empty>
    );
  }
  if (kind === ExperimentKind.CHECK) return <ChecksTable experiment={experiment} />;
  if (kind === ExperimentKind.BENCH) return <Ceilings experiment={experiment} />;
  return (
    <>
      <Section title="Arms, stage by stage">
        <StagesTable
          experiment={experiment}
          chosen={chosen}
          onChoose={(configuration) => setQuery({ configuration: configuration > 0 ? String(configuration) : undefined })}
        />
      </Section>
      {chosen > 0 && (
        <div ref={detail}>
          <ConfigurationDetail key={chosen} experiment={experiment} configuration={chosen} />
        </div>
      )}
      <Section title="Roofline">
        <Roofline experiment={experiment} />
      </Section>
    </>
  );
}

// Of two states of an experiment the greater one is the later.
const ahead = (state: Experiment) => state.state * 1e9 + state.numFinished + state.progress;

export default function View({ params, query }: ViewProps) {
  const id = /^\d+$/.test(params.id ?? '') ? params.id : undefined;
  const data = useData(
    (signal) =>
      id
        ? call('Get', ExperimentSchema, { experiment_id: id }, signal)
        : Promise.reject(new Error('The number of an experiment is a whole number.')),
    [id],
  );
  const [live, setLive] = useState<Experiment>();
  const [isWatched, setWatched] = useState(false);
  const stored = data.state === 'ready' ? data.value : undefined;
  const isLive = stored !== undefined && stored.state <= TaskState.RUNNING;
  useEffect(() => {
    setLive(undefined);
    if (!stored || !isLive) return undefined;
    setWatched(true);
    return watch(stored.experimentId, setLive, () => {
      setWatched(false);
      refresh(data);
    });
  }, [stored?.experimentId, isLive]);
  // The daemon serves a few streams only; without one it is asked.
  useEvery(isLive && !isWatched ? pollMilliseconds : 0, () => refresh(data));
  const shown = live && stored && ahead(live) >= ahead(stored) ? live : stored;
  const title = `Experiment ${params.id ?? ''}${shown ? `: ${kindOf(shown)} ${shown.spec?.operatorName ?? ''}` : ''}`;
  return (
    <Page
      title={title.trimEnd()}
      actions={
        shown && (
          <>
            <StateChip state={shown.state} />
            {verdictOf(shown) > 0 && <VerdictChip kind={verdictOf(shown)} />}
          </>
        )
      }
    >
      <Loaded data={data}>
        {(first) => {
          const experiment = shown ?? first;
          const isOver = experiment.state > TaskState.RUNNING;
          return (
            <>
              {!isOver && (
                <p role="status">
                  <Progress experiment={experiment} />
                </p>
              )}
              <Facts experiment={experiment} />
              <Results experiment={experiment} query={query} />
              {isOver && (
                <Section title="Receipt">
                  <Receipt id={experiment.experimentId} />
                </Section>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
