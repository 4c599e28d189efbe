// usage: node daemon.mjs ASSAYD ASSAY ASSAY_RUNNER GOLDENS DASHBOARDS SCREENSHOTS
//
// The page over the real daemon: every view on experiments that were just measured on the cpu, one of them while it runs,
// with hostile names, and on an empty database before that. A screenshot of each view is kept.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { drawn, skip, startBrowser } from './browser.mjs';

const [assayd, assay, runner, goldens, dashboards, screenshots] = process.argv.slice(2);
if (!existsSync(join(dashboards, 'index.html'))) skip('the page is not built: scripts/dashboards.sh');
const folder = mkdtempSync(join(tmpdir(), 'assay-page-'));
const socket = `unix:${join(folder, 'assay.sock')}`;
const hostile = `<img src=x onerror=alert(1)>"'</script><script>alert(2)</script>`;
const quick = ['--device', 'cpu', '--calls', '3', '--rounds', '12'];
mkdirSync(screenshots, { recursive: true });

async function startDaemon() {
  const daemon = spawn(assayd, [
    ...['--db', join(folder, 'assay.db'), '--listen', socket, '--http', '127.0.0.1:0'],
    ...['--dashboards', dashboards, '--runner', runner, '--goldens', goldens],
  ]);
  daemon.stderr.resume();
  const address = await new Promise((resolve, reject) => {
    let said = '';
    daemon.stdout.on('data', (data) => {
      said += data;
      const found = /listening on .*(http:\/\/[^\s,]+)/.exec(said);
      if (found) resolve(found[1]);
    });
    daemon.on('exit', (status) => reject(new Error(`assayd ended with status ${status}: ${said}`)));
  });
  return { address, stop: () => new Promise((resolve) => daemon.once('exit', resolve) && daemon.kill('SIGTERM')) };
}

const run = (...words) =>
  promisify(execFile)(assay, words, { env: { ...process.env, ASSAY_ADDRESS: socket } }).catch((error) => {
    // Rejected is what one of them is meant to be.
    if (error.code !== 3) throw error;
  });

const daemon = await startDaemon();
const { page, complaints, close } = await startBrowser();
const failures = [];

// Opens an address, waits for a text of the view's own, and looks at what was seen.
async function visit(name, path, text, look = async () => {}) {
  try {
    await page.goto(daemon.address + path);
    await page.getByText(text, { exact: false }).first().waitFor({ timeout: 20_000 });
    await page.waitForFunction(() => !document.querySelector('.loading'));
    await look();
    await drawn(page);
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
    assert.deepEqual(complaints.splice(0), [], 'the page complained');
    console.log(`ok: ${name}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAILED: ${name}: ${error.message}`);
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true }).catch(() => {});
  }
}

const hasText = async (text) => assert.ok((await page.textContent('main')).includes(text), `"${text}" is not there`);
const hasChart = async () => {
  await page.locator('.canvas svg').first().waitFor();
  assert.ok((await page.locator('.canvas svg path').count()) > 3, 'the chart is empty');
};

// Nothing is there yet: each view says what to do.
await visit('empty_overview', '/', 'Nothing runs');
await visit('empty_experiments', '/experiments', 'No experiment yet');
await visit('empty_trends', '/trends', 'No series yet');
await visit('empty_regressions', '/regressions', 'No regression is open');
await visit('empty_sweeps', '/sweeps', 'No sweep yet');
await visit('empty_bits', '/bits', 'No digest like that');
await visit('empty_recordings', '/recordings', 'Nothing is imported');

await run('device', 'bench', '--device', 'cpu');
await run('compare', 'qsa_decode', '--candidate', 'two_cell', '-a', 'kv=int8', '-a', 'width=[256,512]', ...quick);
await run('compare', 'qsa_decode', '--candidate', 'hw_exp', '-a', 'kv=int8', '-a', 'width=256', ...quick);
await run('check', 'qsa_decode', '--suite', 'mutants', '--device', 'cpu');
await run(
  ...['sweep', 'qsa_decode', '--baseline', 'one_cell:threads=1', '--variant', 'two_cell:threads=1'],
  ...['-a', 'cells_per_step=[1,2,4]', '-a', 'merge_batch=[8,16]', '-a', 'width=64', ...quick],
);
for (let i = 0; i < 8; ++i) {
  await run('measure', 'calibration', '--variant', 'plain', '--workload', 'c3', ...quick, '--commit', `abcdef${i}`);
}
await run(
  ...['compare', 'qsa_decode', '--candidate', 'two_cell', '-a', 'kv=int8', '-a', 'width=64', ...quick],
  ...['--label', `x=${hostile}`, '--label', hostile.replaceAll('=', ''), '--note', hostile, '--branch', 'hostile'],
);

await visit('experiments', '/experiments', 'two_cell', async () => {
  const first = () => page.locator('tbody tr td').first().textContent();
  const before = await first();
  await page.getByRole('button', { name: /^number/ }).click();
  assert.notEqual(await first(), before, 'the button in the head of the column sorts nothing');
});
await visit('experiments_filtered', '/experiments?verdict=REJECTED', 'hw_exp', async () =>
  assert.equal(await page.locator('tbody tr').count(), 1),
);
await visit('comparison', '/experiments/2', 'Arms, stage by stage', async () => {
  await hasText('equal');
  await page.getByRole('button', { name: /^Samples/ }).first().click();
  await page.getByText('What each stage').waitFor();
  await hasChart();
  assert.match(page.url(), /configuration=1/);
  await page.getByRole('button', { name: 'Show the receipt' }).click();
  await page.getByRole('button', { name: 'Copy the Markdown' }).waitFor();
});
await visit('rejected', '/experiments/3?configuration=1', 'first element', async () => hasText('elements of `out` differ'));
await visit('check', '/experiments/4', 'Items of the check', async () => hasText('14'));
await visit('ceilings', '/experiments/1', 'Ceilings of the device');
await visit('sweeps', '/sweeps', 'Tuning table', async () => hasText('two_cell'));
await visit('sweep', '/sweeps/5', 'What the sweep found best', async () => {
  await hasChart();
  assert.equal(await page.locator('.canvas svg').count(), 2);
});
await visit('trends', '/trends', 'calibration');
await visit('trend', '/trends?of=calibration&variant=plain&axis=elements%3D4224&axis=steps%3D250', 'Median time of', async () => {
  await hasChart();
  await page.getByText('Values as a table').first().click();
  await hasText('abcdef7');
});
await visit('trend_by_commit', '/trends?of=calibration&variant=plain&axis=elements%3D4224&axis=steps%3D250&order=BY_COMMIT', 'only runs that name a commit are ordered');
await visit('bits', '/bits?operator_name=qsa_decode', 'one_cell', async () => hasText('golden'));
await visit('query', `/query?sql=${encodeURIComponent('SELECT experiment_id, kind FROM experiments ORDER BY 1')}`, '14 rows');
await visit('query_refused', `/query?sql=${encodeURIComponent('SELECT * FROM t_experiment')}`, 'no such table');
await visit('missing', '/nothing/of/the/kind', 'Nothing has this address');
await visit('unknown_experiment', '/experiments/999', 'no experiment 999');
await visit('hostile', '/experiments/14', 'hostile', async () => {
  await hasText(hostile);
  assert.equal(await page.locator('main img').count(), 0);
});
await visit('overview', '/', 'Newest experiments', async () => {
  // The heading has the focus after a link; what comes first on the page leads past the navigation.
  await page.evaluate(() => (document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined));
  await page.locator('.skip').focus();
  await page.keyboard.press('Enter');
  assert.match(page.url(), /#content$/);
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.querySelector('main')?.contains(document.activeElement)), 'Tab leads into the content');
});

// What runs is seen to go on, and its end is seen without a reload.
await run(
  ...['compare', 'qsa_decode', '--candidate', 'two_cell', '-a', 'kv=int8', '-a', 'width=[8192,16384]'],
  ...['--device', 'cpu', '--calls', '5', '--rounds', '24', '--detach'],
);
await visit('running', '/experiments/15', 'qsa_decode', async () => {
  await page.locator('progress').waitFor();
});
try {
  await page.locator('progress').waitFor({ state: 'detached', timeout: 120_000 });
  await page.getByText('Arms, stage by stage').waitFor();
  console.log('ok: the end of a running experiment is seen');
} catch (error) {
  failures.push('live');
  console.log(`FAILED: the end of a running experiment is not seen: ${error.message}`);
}

await page.getByRole('button', { name: 'Dark' }).click();
await visit('dark', '/experiments/2?configuration=1', 'What each stage', async () => {
  await hasChart();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
});

// A daemon that is gone is told in words.
await daemon.stop();
await page.evaluate(() => history.pushState(null, '', '/experiments?state=DONE'));
await page.evaluate(() => window.dispatchEvent(new PopStateEvent('popstate')));
try {
  await page.getByText('The daemon does not answer').first().waitFor();
  console.log('ok: a daemon that is gone');
} catch (error) {
  failures.push('gone');
  console.log(`FAILED: a daemon that is gone: ${error.message}`);
}

await close();
rmSync(folder, { recursive: true, force: true });
console.log(failures.length === 0 ? 'page: all as expected' : `page: failed: ${failures.join(', ')}`);
process.exit(failures.length === 0 ? 0 : 1);
