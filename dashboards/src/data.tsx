// What a view asks for, and what it shows until it is there or when it is not to be had.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export type Data<T> =
  | { state: 'loading' }
  | { state: 'error'; error: Error; retry: () => void }
  | { state: 'ready'; value: T; reload: () => void };

// Asks when it is first shown and when `deps` change. A reload keeps what is there until the new answer.
export function useData<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[]): Data<T> {
  const [data, setData] = useState<Data<T>>({ state: 'loading' });
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((last) => last + 1);
  useEffect(() => setData({ state: 'loading' }), deps);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setData({ state: 'ready', value, reload: again }),
      (error: Error) => !abort.signal.aborted && setData({ state: 'error', error, retry: again }),
    );
    return () => abort.abort();
  }, [...deps, turn]);
  return data;
}

// Asks again every so often while the page is looked at.
export function useEvery(milliseconds: number, ask: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || ask(), milliseconds);
    return () => clearInterval(timer);
  }, [ask, milliseconds]);
}

export function Loaded<T>({ data, children }: { data: Data<T>; children: (value: T) => ComponentChildren }) {
  switch (data.state) {
    case 'loading':
      return (
        <p class="loading" role="status">
          Loading…
        </p>
      );
    case 'error':
      return (
        <div class="failure" role="alert">
          <p>{data.error.message}</p>
          <button type="button" onClick={data.retry}>
            Try again
          </button>
        </div>
      );
    case 'ready':
      return <>{children(data.value)}</>;
  }
}
