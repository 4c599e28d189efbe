// usage: node first_view.mjs ASSAYD DATABASE DASHBOARDS
//
// How long the views of the page take over a large database, as history_benchmark makes it, in a browser that has seen none
// of it: from the request until the view's own data is there. The daemon is started for this and stopped.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawn, startBrowser } from '../browser/browser.mjs';

const [assayd, database, dashboards] = process.argv.slice(2);
const numTimes = 9;
const folder = mkdtempSync(join(tmpdir(), 'assay-view-'));
const daemon = spawn(assayd, [
  ...['--db', database, '--listen', `unix:${join(folder, 'assay.sock')}`, '--http', '127.0.0.1:0'],
  ...['--dashboards', dashboards, '--no-confirm'],
]);
daemon.stderr.resume();
const address = await new Promise((resolve, reject) => {
  let said = '';
  daemon.stdout.on('data', (chunk) => {
    said += chunk;
    const found = /(http:\S+)/.exec(said);
    if (found) resolve(found[1]);
  });
  daemon.on('exit', () => reject(new Error(`the daemon ended: ${said}`)));
});

const views = [
  ['overview', '/'],
  ['experiments', '/experiments'],
  ['one experiment', '/experiments/50000?configuration=1'],
  ['series', '/trends'],
  ['one trend', '/trends?series=1'],
  ['regressions', '/regressions'],
  ['bits', '/bits'],
];
const { page, complaints, close } = await startBrowser();
await page.route('**/*', (route) => route.continue()); // which also switches the browser's cache off
const isThere = () =>
  document.querySelector('main table tbody tr, main .empty') && !document.querySelector('.loading') ? performance.now() : 0;
for (const [name, path] of views) {
  const times = [];
  for (let i = 0; i < numTimes; ++i) {
    await page.goto('about:blank');
    await page.goto(address + path, { waitUntil: 'commit' });
    times.push(await (await page.waitForFunction(isThere, undefined, { polling: 'raf', timeout: 60_000 })).jsonValue());
    await drawn(page);
  }
  times.sort((a, b) => a - b);
  console.log(`${name}: median ${times[numTimes >> 1].toFixed(0)} ms, slowest ${times.at(-1).toFixed(0)} ms of ${numTimes}`);
}
if (complaints.length > 0) console.log(complaints.join('\n'));
await close();
daemon.kill('SIGTERM');
rmSync(folder, { recursive: true, force: true });
