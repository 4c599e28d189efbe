// Which view an address shows. Whatever a view shows is in its address.
import type { ComponentType } from 'preact';

export interface ViewProps {
  params: Record<string, string>;
  query: URLSearchParams;
}

export interface Route {
  pattern: string;
  nav?: string;
  load: () => Promise<{ default: ComponentType<ViewProps> }>;
}

export const routes: Route[] = [
  { pattern: '/', nav: 'Overview', load: () => import('./views/overview') },
  { pattern: '/experiments', nav: 'Experiments', load: () => import('./views/experiments') },
  { pattern: '/experiments/:id', load: () => import('./views/experiment') },
  { pattern: '/trends', nav: 'Trends', load: () => import('./views/trends') },
  { pattern: '/regressions', nav: 'Regressions', load: () => import('./views/regressions') },
  { pattern: '/sweeps', nav: 'Sweeps', load: () => import('./views/sweeps') },
  { pattern: '/sweeps/:id', load: () => import('./views/sweep') },
  { pattern: '/bits', nav: 'Bits', load: () => import('./views/bits') },
  { pattern: '/query', nav: 'Query', load: () => import('./views/query') },
  { pattern: '/recordings', nav: 'Recordings', load: () => import('./views/recordings') },
  { pattern: '/recordings/:id', load: () => import('./views/recording') },
];

const missing: Route = { pattern: '*', load: () => import('./views/missing') };

export function find(path: string): { route: Route; params: Record<string, string> } {
  const parts = path.split('/').filter(Boolean);
  for (const route of routes) {
    const wanted = route.pattern.split('/').filter(Boolean);
    if (wanted.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((part, index) => {
      const found = parts[index] ?? '';
      if (!part.startsWith(':')) return part === found;
      params[part.slice(1)] = found;
      return true;
    });
    if (fits) return { route, params };
  }
  return { route: missing, params: {} };
}

type Listener = () => void;
const listeners = new Set<Listener>();

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  window.addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('popstate', listener);
  };
}

export function navigate(url: string, replace = false): void {
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  listeners.forEach((listener) => listener());
}

// Changes parts of the address of the view that is shown; undefined and '' take one away.
export function setQuery(patch: Record<string, string | undefined>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(text ? `${location.pathname}?${text}` : location.pathname);
}
