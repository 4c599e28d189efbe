// What a view asks for, and what it shows until it is there or when it is not to be had.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api';
import { Empty } from './parts';

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

// Asks again: for the newest value, or after a failure.
export function refresh(...all: Data<unknown>[]): void {
  for (const data of all) {
    if (data.state === 'ready') data.reload();
    if (data.state === 'error') data.retry();
  }
}

// Asks again every so often while the page is looked at; 0: not at all.
export function useEvery(milliseconds: number, ask: () => void): void {
  const newest = useRef(ask);
  newest.current = ask;
  useEffect(() => {
    if (milliseconds === 0) return undefined;
    const timer = setInterval(() => document.hidden || newest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
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
      if (data.error instanceof ApiError && data.error.code === 'UNIMPLEMENTED') {
        return <Empty>This daemon does not offer that.</Empty>;
      }
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
