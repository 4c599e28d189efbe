// The items of a CHECK, suite by suite: cases that were compared, pairs that have to agree, defects that were planted.
import { Outcome, type CheckResult, type Configuration, type Experiment } from '../../generated/proto/assay_pb';
import { count, percent } from '../format';
import { Section, Table, Tag, type Column } from '../parts';
import { failureWord } from './stages_table';

const mutants = 'mutants';

interface Item {
  configuration: Configuration;
  check?: CheckResult; // of an item that finished
  suite: string;
  name: string;
}

function itemsOf(experiment: Experiment): Item[] {
  return experiment.configurations.map((configuration) => ({
    configuration,
    check: configuration.outcome === Outcome.FINISHED ? configuration.check : undefined,
    suite: configuration.check?.suite || 'not finished',
    name: configuration.check?.name || `item ${configuration.configuration}`,
  }));
}

// A device that lacks every arm or cannot hold any problem proves nothing, and breaks nothing.
const hasRun = (check: CheckResult) => check.numCases > 0n || check.notRun === '';
const isCaught = (check: CheckResult) => check.passed && check.rejectedBy !== 0;
const isGood = ({ check, suite }: Item) =>
  check !== undefined && hasRun(check) && (suite === mutants ? isCaught(check) : check.passed);

function Result({ item }: { item: Item }) {
  const { check, configuration, suite } = item;
  if (!check) return <Tag tone="bad">✕ {(Outcome[configuration.outcome] ?? 'unknown').toLowerCase().replaceAll('_', ' ')}</Tag>;
  if (!hasRun(check)) return <Tag tone="warn">– not run</Tag>;
  const [good, bad] = suite === mutants ? ['rejected', 'survived'] : ['passed', 'failed'];
  return isGood(item) ? <Tag tone="good">✓ {good}</Tag> : <Tag tone="bad">✕ {bad}</Tag>;
}

// The defect or the arms beside the baseline, and what was seen.
function seen({ check, configuration, suite }: Item) {
  const goldens =
    check && check.numGoldensDiffering > 0
      ? `${count(check.numGoldensDiffering)} goldens differ, the first: ${check.firstGoldenDiffering}`
      : '';
  const notRun = check?.notRun && `not run: ${check.notRun}`;
  const first = suite === mutants ? check?.summary : check?.arms.join(', ');
  const second = [configuration.message, check?.detail, goldens, notRun].filter(Boolean).join('; ');
  return first || second ? (
    <>
      {first}
      {second && <span class="below">{second}</span>}
    </>
  ) : null;
}

const share = (used: number) => (used < 10 ? percent(used) : `${count(Math.round(used))} times it`);

const counting: Column<Item>[] = [
  {
    key: 'cases',
    title: 'cases',
    numeric: true,
    cell: ({ check }) => (check ? count(check.numCases) : '–'),
    sort: ({ check }) => check?.numCases ?? 0n,
  },
  { key: 'differ', title: 'differ', numeric: true, cell: ({ check }) => (check ? count(check.numDiffering) : '–') },
  {
    key: 'goldens',
    title: 'goldens reproduced',
    numeric: true,
    cell: ({ check }) => {
      const all = (check?.numGoldensReproduced ?? 0) + (check?.numGoldensMissing ?? 0) + (check?.numGoldensDiffering ?? 0);
      return all === 0 ? '–' : `${count(check?.numGoldensReproduced ?? 0)} of ${count(all)}`;
    },
  },
];

const catching: Column<Item>[] = [
  {
    key: 'by',
    title: 'because',
    cell: ({ check }) => (check?.rejectedBy ? failureWord(check.rejectedBy) : '–'),
    sort: ({ check }) => check?.rejectedBy ?? 0,
  },
  {
    key: 'tolerance',
    title: 'of the tolerance',
    numeric: true,
    cell: ({ check }) => (check && check.toleranceUsed > 0 ? share(check.toleranceUsed) : '–'),
    sort: ({ check }) => check?.toleranceUsed ?? 0,
  },
];

function Items({ caption, rows, isMutants }: { caption: string; rows: Item[]; isMutants: boolean }) {
  const nameOf = ({ suite, name }: Item) => (isMutants ? name : `${suite}/${name}`);
  const numRun = rows.filter(({ check }) => !check || hasRun(check)).length;
  const notRun = numRun < rows.length ? `, ${count(rows.length - numRun)} not run` : '';
  return (
    <Table
      caption={`${caption}: ${count(rows.filter(isGood).length)} of ${count(numRun)} ${isMutants ? 'rejected' : 'passed'}${notRun}`}
      rows={rows}
      columns={[
        { key: 'name', title: 'item', cell: (item) => <code class="line">{nameOf(item)}</code>, sort: nameOf },
        { key: 'result', title: 'result', cell: (item) => <Result item={item} />, sort: (item) => Number(isGood(item)) },
        ...(isMutants ? catching : counting),
      ]}
      below={seen}
    />
  );
}

export function ChecksTable({ experiment }: { experiment: Experiment }) {
  const items = itemsOf(experiment);
  const planted = items.filter(({ suite }) => suite === mutants);
  const others = items.filter(({ suite }) => suite !== mutants);
  return (
    <Section title="Items of the check">
      {others.length > 0 && <Items caption="Suites" rows={others} isMutants={false} />}
      {planted.length > 0 && <Items caption="Planted defects" rows={planted} isMutants />}
    </Section>
  );
}
