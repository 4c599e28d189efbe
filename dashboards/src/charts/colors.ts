// Colours of charts in both themes; they can be told apart by people who see fewer colours.
import type { Theme } from '../theme';

export interface Palette {
  series: string[];
  baseline: string;
  candidate: string;
  text: string;
  quiet: string;
  line: string;
  grid: string;
  paper: string;
  heat: string[];
}

const light: Palette = {
  series: ['#1f5fbf', '#c2570c', '#2a7f62', '#8a4fbf', '#a3123a'],
  baseline: '#c2570c',
  candidate: '#1f5fbf',
  text: '#1c2024',
  quiet: '#5a646e',
  line: '#aab2ba',
  grid: '#e6e9ec',
  paper: '#ffffff',
  heat: ['#08519c', '#6baed6', '#f7f7f7', '#fdae6b', '#a63603'],
};

const dark: Palette = {
  series: ['#7fb2ff', '#f2a35e', '#6fd0ac', '#c9a2f2', '#ff8fa8'],
  baseline: '#f2a35e',
  candidate: '#7fb2ff',
  text: '#e6e9ec',
  quiet: '#a4adb6',
  line: '#56606a',
  grid: '#2b3238',
  paper: '#1b2024',
  heat: ['#6baed6', '#2b6ca3', '#3a4148', '#a8622c', '#f2a35e'],
};

export const palette = (theme: Theme): Palette => (theme === 'dark' ? dark : light);
