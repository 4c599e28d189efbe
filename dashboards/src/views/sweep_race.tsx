// The races of a sweep as its receipt has them: the winner of each workload, and who ranks behind it.
import type { ReceiptContender, ReceiptRace, Setting } from '../../generated/proto/assay_pb';
import { arm, count, micros, percent, ratio, settings, withInterval } from '../format';
import { Table, Tag, type Column } from '../parts';
import { rankedOf, type Try } from './sweep_options';

const winnerOf = (race: ReceiptRace) => (race.hasWinner ? race.ranking[0] : undefined);
const numOf = (race: ReceiptRace, standing: string) =>
  Number(race.standings.find(({ label }) => label === standing)?.num ?? 0n);

// Of a tie only what is otherwise than in the winner.
function Ties({ race }: { race: ReceiptRace }) {
  const winner = new Map(winnerOf(race)?.arm?.parameters.map(({ name, value }) => [name, value]));
  const ties = race.ranking.filter(({ standing }) => standing === 'tied');
  const numMore = numOf(race, 'tied') - ties.length;
  if (ties.length === 0) return <>none</>;
  return (
    <>
      {ties.map((tie) => (
        <span key={tie.configuration} class="below line">
          {settings((tie.arm?.parameters ?? []).filter(({ name, value }) => winner.get(name) !== value)) || arm(tie.arm)}
        </span>
      ))}
      {numMore > 0 && <span class="below quiet">and {count(numMore)} more</span>}
    </>
  );
}

function OfBaseline({ race }: { race: ReceiptRace }) {
  if (!race.hasWinner) return <>–</>;
  if (arm(winnerOf(race)?.arm) === arm(race.baseline)) return <>itself</>;
  return (
    <>
      {withInterval(race)}
      {race.hasInterval && race.ratioLow < 1 && race.ratioHigh > 1 && (
        <span class="below">
          <Tag tone="warn">? not told apart</Tag>
        </span>
      )}
    </>
  );
}

const columns: Column<ReceiptRace>[] = [
  {
    key: 'arm',
    title: 'winner',
    cell: (race) => (race.hasWinner ? arm(winnerOf(race)?.arm) : 'none may rank') + (race.mayGoOn ? ', so far' : ''),
  },
  { key: 'median', title: 'median', numeric: true, cell: (race) => micros(winnerOf(race)?.medianNs ?? 0n) },
  { key: 'ratio', title: 'of what it began with', numeric: true, cell: (race) => <OfBaseline race={race} /> },
  { key: 'ties', title: 'not to be told from it', cell: (race) => <Ties race={race} /> },
  { key: 'noise', title: 'within', numeric: true, cell: (race) => (race.hasWinner ? percent(race.noise) : '–') },
  { key: 'failed', title: 'failed', numeric: true, cell: (race) => count(numOf(race, 'failed')) },
  { key: 'tried', title: 'tried', numeric: true, cell: (race) => count(race.numTried) },
];

export function Winners({ races, rest }: { races: ReceiptRace[]; rest: (list: Setting[]) => Setting[] }) {
  const began = [...new Set(races.map((race) => arm(race.baseline)))].join('; ');
  return (
    <Table
      caption={`What the sweep found best. It began with ${began}`}
      rows={races}
      columns={[
        ...(races.length > 1
          ? [{ key: 'workload', title: 'workload', cell: (race: ReceiptRace) => settings(rest(race.workload?.axes ?? [])) }]
          : []),
        ...columns,
      ]}
    />
  );
}

type Ranked = Pick<ReceiptContender, 'ratio' | 'hasInterval' | 'ratioLow' | 'ratioHigh' | 'standing' | 'message'> & {
  arm: string;
  ns: number;
};

// Those that the receipt does not rank have no standing here.
export function Ranking({ race, tries }: { race?: ReceiptRace; tries: Try[] }) {
  const ranked: Ranked[] = (race?.ranking ?? []).map((each) => ({ ...each, arm: arm(each.arm), ns: Number(each.medianNs) }));
  const seen = new Set(race?.ranking.map(({ configuration }) => configuration));
  const others: Ranked[] = rankedOf(tries)
    .filter(({ configuration }) => !seen.has(configuration))
    .slice(0, 200)
    .map((each) => ({
      ...{ arm: each.arm, ns: each.ns ?? 0, message: '' },
      ...{ standing: '', ratio: 0, hasInterval: false, ratioLow: 0, ratioHigh: 0 },
    }));
  const isRanked = ranked.length > 0;
  const rows = [...ranked, ...others];
  const why: Column<Ranked> = { key: 'why', title: 'why', cell: (row) => <span class="quiet">{row.message}</span> };
  const ratioColumns: Column<Ranked>[] = [
    {
      key: 'ratio',
      title: 'of the winner',
      numeric: true,
      cell: (row) => (row.standing === 'winner' ? ratio(1) : withInterval(row)),
      sort: (row) => row.ratio || Infinity,
    },
    { key: 'standing', title: 'standing', cell: (row) => row.standing || 'below these' },
  ];
  return (
    <Table
      caption={isRanked ? 'By standing; those below by their medians' : 'By their medians'}
      rows={rows}
      columns={[
        { key: 'arm', title: 'arm', cell: (row) => row.arm },
        { key: 'time', title: 'median', numeric: true, cell: (row) => micros(row.ns), sort: (row) => row.ns },
        ...(isRanked ? ratioColumns : []),
        ...(rows.some(({ message }) => message) ? [why] : []),
      ]}
    />
  );
}
