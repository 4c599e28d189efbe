// Light or dark: as the system has it, or as the reader chose here.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';
const key = 'assay-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function chosen(): Theme | undefined {
  const value = localStorage.getItem(key);
  return value === 'light' || value === 'dark' ? value : undefined;
}

export const theme = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light');

function apply(): void {
  document.documentElement.dataset.theme = theme();
  listeners.forEach((listener) => listener());
}

export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}

export function useTheme(): Theme {
  const [value, setValue] = useState(theme());
  useEffect(() => {
    const listener = () => setValue(theme());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return value;
}

export function ThemeSwitch() {
  const value = useTheme();
  const other: Theme = value === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      class="small"
      onClick={() => {
        localStorage.setItem(key, other);
        apply();
      }}
    >
      {other === 'dark' ? 'Dark' : 'Light'}
    </button>
  );
}
