// Makes the types from the proto and the page from the sources: ../build/dashboards, which assayd --dashboards serves.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, '../build/dashboards');

mkdirSync(join(here, 'generated'), { recursive: true });
execFileSync(
  'protoc',
  [
    `--plugin=protoc-gen-es=${join(here, 'node_modules/.bin/protoc-gen-es')}`,
    `--es_out=${join(here, 'generated')}`,
    '--es_opt=target=ts',
    `--proto_path=${join(here, '..')}`,
    'proto/assay.proto',
  ],
  { stdio: 'inherit' },
);

rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: { main: join(here, 'src/main.tsx') },
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  logLevel: 'warning',
});

// Files are named by what is in them, so that a browser may keep them.
const style = readFileSync(join(here, 'src/style.css'));
const styleName = `style-${createHash('sha256').update(style).digest('hex').slice(0, 8)}.css`;
writeFileSync(join(out, styleName), style);
copyFileSync(join(here, 'src/icon.svg'), join(out, 'icon.svg'));
const script = readdirSync(out).find((name) => name.startsWith('main-') && name.endsWith('.js'));
const page = readFileSync(join(here, 'src/index.html'), 'utf8');
writeFileSync(join(out, 'index.html'), page.replace('STYLE', styleName).replace('SCRIPT', script));
console.log(`dashboards: ${relative(process.cwd(), out) || out}`);
