// The bits of one configuration: digests of both arms, the first element that differs, and the share of the tolerance.
import {
  DriftClass,
  type Configuration,
  type Drift,
  type Measurement,
  type ToleranceBucket,
} from '../../generated/proto/assay_pb';
import { count, percent } from '../format';
import { Empty, Table, Tag } from '../parts';
import { failureWord } from './stages_table';

function DriftFacts({ drift }: { drift: Drift }) {
  return (
    <dl class="facts">
      <dt>differing</dt>
      <dd>
        {count(drift.numDiffering)} of {count(drift.numElements)} elements of {drift.tensor} (
        {(DriftClass[drift.driftClass] ?? 'unknown').toLowerCase().replaceAll('_', ' ')})
      </dd>
      <dt>first element</dt>
      <dd>
        {drift.tensor}[{drift.firstIndex.join(', ')}]
      </dd>
      <dt>expected</dt>
      <dd>
        <code>{drift.expectedBits}</code> {drift.expectedValue}
      </dd>
      <dt>found</dt>
      <dd>
        <code>{drift.foundBits}</code> {drift.foundValue}
      </dd>
      <dt>largest distance</dt>
      <dd>{count(drift.maxUlp)} ulp</dd>
    </dl>
  );
}

function Buckets({ buckets }: { buckets: ToleranceBucket[] }) {
  if (buckets.length === 0) return null;
  return (
    <details>
      <summary>Tolerance by the number of terms</summary>
      <Table
        caption="The worst share among elements that sum so many terms"
        rows={buckets}
        columns={[
          { key: 'terms', title: 'terms', numeric: true, cell: (row) => `${count(row.leastTerms)} to ${count(row.mostTerms)}` },
          { key: 'elements', title: 'elements', numeric: true, cell: (row) => count(row.numElements) },
          { key: 'used', title: 'of the tolerance', numeric: true, cell: (row) => percent(row.toleranceUsed) },
        ]}
      />
    </details>
  );
}

function Report({ name, measurement }: { name: string; measurement?: Measurement }) {
  const bits = measurement?.bits;
  if (!bits) return null;
  return (
    <>
      <p>
        <b>{name}</b>{' '}
        {bits.failed ? <Tag tone="bad">✕ {failureWord(bits.failed)}</Tag> : <Tag tone="good">✓ every check passed</Tag>}{' '}
        {!bits.drift && bits.detail}
        {bits.toleranceKnown && (
          <span class="quiet">
            {bits.detail && !bits.drift && '; '}worst share of the tolerance {percent(bits.toleranceUsed)}
            {bits.tolerancePlace && ` at ${bits.tolerancePlace}`}
          </span>
        )}
        {bits.numRuns > 0 && (
          <span class="quiet">
            ; {bits.numDigests} {bits.numDigests === 1 ? 'digest' : 'different digests'} in {bits.numRuns} runs
          </span>
        )}
      </p>
      {bits.drift && <DriftFacts drift={bits.drift} />}
      <Buckets buckets={bits.toleranceBuckets} />
    </>
  );
}

export function Bits({ configuration }: { configuration: Configuration }) {
  const { baseline, candidate } = configuration;
  const other = new Map(candidate?.outputs.map((output) => [output.tensor, output.digest]));
  const outputs = baseline?.outputs ?? candidate?.outputs ?? [];
  return (
    <>
      <h3>Bits</h3>
      <Report name="A" measurement={baseline} />
      <Report name="B" measurement={candidate} />
      <Table
        caption="Digests of outputs and intermediates"
        rows={outputs}
        columns={[
          { key: 'tensor', title: 'tensor', cell: (row) => row.tensor },
          { key: 'shape', title: 'shape', cell: (row) => `${row.dtype} [${row.shape.join(', ')}]` },
          { key: 'a', title: 'A', cell: (row) => <code>{row.digest}</code> },
          {
            key: 'b',
            title: 'B',
            cell: (row) => {
              const digest = other.get(row.tensor);
              if (!digest) return '–';
              return (
                <>
                  {digest === row.digest ? <span class="quiet">= the same</span> : <code class="differs">≠ {digest}</code>}
                </>
              );
            },
          },
        ]}
        empty={<Empty>No digest was taken.</Empty>}
      />
    </>
  );
}
