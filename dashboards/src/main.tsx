// The frame around every view: navigation, theme, and the view that the address names.
import { render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { A, Empty } from './parts';
import { find, listen, routes, type ViewProps } from './router';
import { ThemeSwitch, startTheme, useTheme } from './theme';

function useAddress(): { path: string; search: string } {
  const [address, setAddress] = useState({ path: location.pathname, search: location.search });
  useEffect(() => listen(() => setAddress({ path: location.pathname, search: location.search })), []);
  return address;
}

function View({ path, search }: { path: string; search: string }) {
  const { route, params } = find(path);
  const [shown, setShown] = useState<{ of: string; view: ComponentType<ViewProps> }>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    route.load().then(
      (module) => setShown({ of: route.pattern, view: module.default }),
      () => setFailed(true),
    );
  }, [route.pattern]);
  // A reader of the screen hears where a link led.
  useEffect(() => {
    if (shown?.of === route.pattern) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [path, shown?.of]);
  if (failed) return <Empty>This part of the page is gone: a new version was installed. Load the page again.</Empty>;
  if (shown?.of !== route.pattern) return <p class="loading">Loading…</p>;
  const Shown = shown.view;
  return <Shown key={path} params={params} query={new URLSearchParams(search)} />;
}

function App() {
  const { path, search } = useAddress();
  // Charts take their colours when they are drawn, so everything is drawn again.
  useTheme();
  const first = `/${path.split('/')[1] ?? ''}`;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <span class="brand">assay</span>
        <nav aria-label="Views">
          {routes
            .filter((route) => route.nav)
            .map((route) => (
              <span key={route.pattern} class={first === route.pattern ? 'here' : ''}>
                <A href={route.pattern}>{route.nav}</A>
              </span>
            ))}
        </nav>
        <ThemeSwitch />
      </header>
      <main id="content">
        <View path={path} search={search} />
      </main>
    </>
  );
}

startTheme();
const root = document.getElementById('app');
if (root) render(<App />, root);
