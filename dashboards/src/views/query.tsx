// One SELECT over the documented views.
import { useState } from 'preact/hooks';
import { QueryChunkSchema, type QueryChunk, type QueryRow, type QueryValue } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { count } from '../format';
import { A, Empty, Page, Section, Table } from '../parts';
import { setQuery, type ViewProps } from '../router';

const examples: [string, string][] = [
  ['what was refused', "SELECT DISTINCT experiment_id, workload, candidate, rejected_by, reason\nFROM verdicts WHERE verdict = 'REJECTED' AND is_newest\nORDER BY experiment_id DESC LIMIT 100"],
  ['one series over time', 'SELECT experiment_id, "commit", median_ns, code_digest, bits_digest\nFROM points WHERE series_id = 1 ORDER BY measured_ns'],
  ['who wrote the same bits', "SELECT experiment_id, variant, device, workload\nFROM digests WHERE side = 'outputs' ORDER BY digest LIMIT 100"],
  ['experiments a day', "SELECT date(submitted_ns / 1000000000, 'unixepoch') AS day, count(*) AS num\nFROM experiments GROUP BY day ORDER BY day DESC"],
];

function textOf(value: QueryValue): string | undefined {
  const { value: found } = value;
  switch (found.case) {
    case undefined:
      return undefined;
    case 'blob':
      return Array.from(found.value, (byte) => byte.toString(16).padStart(2, '0')).join('');
    default:
      return String(found.value);
  }
}

// NULL is an empty field and '' a quoted one.
function csvOf(answer: QueryChunk): string {
  const cell = (text: string | undefined) =>
    text === undefined ? '' : text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = [answer.columns.map(cell), ...answer.rows.map((row) => row.values.map((value) => cell(textOf(value))))];
  return lines.map((line) => line.join(',') + '\r\n').join('');
}

function download(answer: QueryChunk): void {
  const url = URL.createObjectURL(new Blob([csvOf(answer)], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'assay.csv';
  link.click();
  URL.revokeObjectURL(url);
}

function Cell({ value }: { value?: QueryValue }) {
  const text = value && textOf(value);
  return text === undefined ? <span class="quiet">NULL</span> : <>{text}</>;
}

function Answer({ sql }: { sql: string }) {
  const data = useData((signal) => call('Query', QueryChunkSchema, { sql, max_rows: 1000 }, signal), [sql]);
  return (
    <Loaded data={data}>
      {(answer) => (
        <>
          <p class="actions">
            {count(answer.rows.length)} rows{answer.truncated && `, cut off: ${answer.truncated}`}
            <button type="button" class="small" onClick={() => download(answer)}>
              Download as CSV
            </button>
          </p>
          <div class="fit">
            <Table<QueryRow>
              caption="Rows"
              rows={answer.rows}
              columns={answer.columns.map((title, index) => ({
                key: String(index),
                title,
                numeric: ['integer', 'real'].includes(answer.rows[0]?.values[index]?.value.case ?? ''),
                cell: (row) => <Cell value={row.values[index]} />,
              }))}
              empty={<Empty>No row.</Empty>}
            />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Views() {
  const data = useData(
    (signal) =>
      call(
        'Query',
        QueryChunkSchema,
        { sql: 'SELECT view, name, meaning FROM columns ORDER BY view, position', max_rows: 2000 },
        signal,
      ),
    [],
  );
  return (
    <Loaded data={data}>
      {(answer) => {
        const views = new Map<string, string[][]>();
        for (const row of answer.rows) {
          const [view = '', name = '', meaning = ''] = row.values.map((value) => textOf(value) ?? '');
          views.set(view, [...(views.get(view) ?? []), [name, meaning]]);
        }
        return (
          <>
            {[...views].map(([view, columns]) => (
              <details key={view}>
                <summary>
                  <code>{view}</code> {columns.find(([name]) => name === '')?.[1]}
                </summary>
                <dl class="facts">
                  {columns
                    .filter(([name]) => name !== '')
                    .map(([name, meaning]) => (
                      <>
                        <dt>
                          <code>{name}</code>
                        </dt>
                        <dd>{meaning}</dd>
                      </>
                    ))}
                </dl>
              </details>
            ))}
          </>
        );
      }}
    </Loaded>
  );
}

export default function View({ query }: ViewProps) {
  const sql = query.get('sql') ?? '';
  const [text, setText] = useState(sql);
  const run = (what: string) => {
    setText(what);
    setQuery({ sql: what });
  };
  return (
    <Page
      title="Query"
      intro="One SELECT, read-only. The address of this page holds it, so a link shows the same question."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(text);
        }}
      >
        <label>
          SQL
          <textarea
            name="sql"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(text);
            }}
          />
        </label>
        <p class="actions">
          <button type="submit">Run</button>
          <span class="quiet">or Ctrl+Enter</span>
          {examples.map(([name, example]) => (
            <button key={name} type="button" class="small" onClick={() => run(example)}>
              {name}
            </button>
          ))}
        </p>
      </form>
      {sql ? (
        <Answer sql={sql} />
      ) : (
        <Empty>
          Choose an example, or write a SELECT over the views below. On a command line: <code>assay query</code>.
        </Empty>
      )}
      <Section title="Views and their columns">
        <Views />
      </Section>
      <p class="quiet">
        <A href="/experiments">Experiments</A> and <A href="/trends">trends</A> have filters of their own.
      </p>
    </Page>
  );
}
