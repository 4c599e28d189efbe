// What lists of many rows have around them.
import { setQuery } from '../router';

// The next page, if there is one.
export function Older({ token }: { token: string }) {
  if (!token) return null;
  return (
    <p>
      <button type="button" onClick={() => setQuery({ page_token: token })}>
        Older ones
      </button>
    </p>
  );
}

// What the rows have in common.
export function Same({ lines }: { lines: string[] }) {
  return (
    <>
      {lines.map((line) => (
        <p key={line} class="quiet">
          {line}
        </p>
      ))}
    </>
  );
}
