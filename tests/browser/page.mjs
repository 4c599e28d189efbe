// usage: node page.mjs DASHBOARDS SCREENSHOTS
//
// Every view over made-up data, over a daemon without any, and over one that only fails: what is said, that hostile names
// are text, that the keyboard reaches what the mouse does. A screenshot of each view is kept.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, skip, startBrowser } from './browser.mjs';

const [dashboards, screenshots] = process.argv.slice(2);
if (!existsSync(join(dashboards, 'index.html'))) skip('the page is not built: scripts/dashboards.sh');
const { page, complaints, close } = await startBrowser();
const { startMock } = await import('./mock.mjs');
const { hostile } = await import('./mock_data.mjs');
const mock = await startMock(dashboards);
mkdirSync(screenshots, { recursive: true });
await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`the content policy refuses ${event.violatedDirective} ${event.blockedURI}`)));
const failures = [];

async function expect(name, look) {
  try {
    await look();
    assert.equal(await page.locator('img, main script').count(), 0, 'a name became an element');
    assert.deepEqual([...complaints.splice(0), ...mock.refused.splice(0)], [], 'the page complained, or asked in a wrong way');
    console.log(`ok: ${name}`);
  } catch (error) {
    failures.push(name);
    complaints.length = mock.refused.length = 0;
    console.log(`FAILED: ${name}: ${error.message}`);
  }
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true }).catch(() => {});
}

// Opens an address and waits for all of `texts`.
const visit = (name, path, texts, look = async () => {}) =>
  expect(name, async () => {
    await page.goto(mock.address + path);
    for (const text of texts) await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor({ timeout: 10_000 });
    await look();
    await drawn(page);
  });

const hasCharts = async (num) => {
  await page.locator('.canvas svg').nth(num - 1).waitFor();
  assert.equal(await page.locator('.canvas svg').count(), num);
};
const hasRow = (text) => page.locator('tbody tr').filter({ hasText: text }).first().waitFor({ timeout: 10_000 });
// As on a telephone: nothing makes the page wider than it.
const narrow = async (name, path, texts, look = async () => {}) => {
  const wide = page.viewportSize();
  await page.setViewportSize({ width: 420, height: 900 });
  await visit(name, path, texts, async () => {
    await look();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 420, `the page is ${width} pixels wide`);
  });
  await page.setViewportSize(wide);
};
const isInSight = async (found) => {
  const box = await found.first().boundingBox();
  assert.ok(box && box.x >= 0 && box.x + box.width <= page.viewportSize().width, `it ends at ${box?.x + box?.width}`);
};
const column = (place) => page.locator(`tbody tr td:nth-child(${place})`).allTextContents();

await visit('full_overview', '/', ['Made-up GPU', 'not available', /8\.60* µs/, 'rejected'], async () => {
  await page.locator('progress').first().waitFor();
});
await visit('full_experiments', '/experiments', ['rejected', 'sweep', hostile.image], async () => {
  const before = (await column(1)).map(Number);
  await page.getByRole('button', { name: /^number/ }).focus();
  await page.keyboard.press('Enter');
  assert.deepEqual((await column(1)).map(Number), before.reverse(), 'not sorted by the keyboard');
});
await expect('full_days_in_utc', async () => {
  const asked = page.waitForRequest((request) => request.url().includes('submitted_after_ns=1767225600000000000'));
  await page.goto(`${mock.address}/experiments?since=2026-01-01`);
  await asked;
});
await visit('full_compare', '/experiments/11?configuration=1', ['0.910', 'faster', 'What each stage'], async () => {
  await hasCharts(2);
  await drawn(page);
  const ticks = (await page.locator('.canvas').first().locator('text').allTextContents()).map(Number).filter(Number.isFinite);
  assert.ok(Math.max(...ticks) < 20, 'a few extremes flatten all boxes');
  await page.getByText('2026-01-01 00:11:00 UTC').waitFor();
  const before = await page.locator('.canvas svg text').allTextContents();
  await page.getByRole('button', { name: 'Dark' }).click();
  await page.getByRole('button', { name: 'Light' }).click();
  await hasCharts(2);
  assert.deepEqual(await page.locator('.canvas svg text').allTextContents(), before, 'another theme shows other numbers');
});
await visit('full_rejected', '/experiments/10?configuration=1', [/5 of 2,048 elements/, 'rejected']);
await visit('full_check', '/experiments/9', [
  ...['drops_last_strip', 'mask_off', 'Planted defects: 2 of 3 rejected', 'Suites: 1 of 1 passed, 1 not run'],
]);
await visit('full_lost_in_a_sweep', '/experiments/4', ['The sweep: winner, ties, heat map'], async () => {
  assert.equal(await page.getByText('slower').count(), 0, 'what loses in a sweep is a verdict on the sweep');
});
await narrow('narrow_check', '/experiments/9', [], () => isInSight(page.locator('main').getByText(/^not run: no variant/)));
await narrow('narrow_rejected', '/experiments/10', [], () => isInSight(page.locator('main').getByText(/^5 of 2,048 elements/)));
await narrow('narrow_overview', '/', [], async () => {
  await page.getByText('rejected').first().waitFor();
  await isInSight(page.getByText('rejected'));
  await isInSight(page.locator('tbody').getByText('failed'));
});
await visit('full_measure', '/experiments/2', ['caches cold, launches by stream, times from cupti activity'], async () => {
  await drawn(page);
  await page.locator('.canvas text').getByText('read, 4.1 TB/s').waitFor();
  for (const text of [/order of arms/, /the baseline/]) assert.equal(await page.getByText(text).count(), 0, `there is ${text}`);
});
await visit('full_untimed', '/experiments/1', ['nothing was timed', 'the baseline failed its own checks']);
await visit('full_failed', '/experiments/5', [`the runner died ${hostile.image}`]);
await visit('full_hostile', '/experiments/6', [hostile.script]);
await visit('full_sweeps', '/sweeps', ['random', 'stale', '0.910 [0.905, 0.916]']);
await visit('full_sweep', '/sweeps/8', [/What the sweep found best/, 'stages=3', 'resources', 'bit drift', 'and 2 more'], async () => {
  await hasCharts(2);
  await hasRow(/threads=256, cells=4, stages=2.*0\.910 \[0\.905, 0\.916\]/);
  await page.getByText('Values as a table').click();
  await hasRow(/stages=2.*1\.000winner/);
  await hasRow(/stages=3.*0\.996 \[0\.985, 1\.004\]tied/);
  await hasRow(/about 1\.140dropped/);
  await hasRow(/below these/);
  await page.getByLabel('down').selectOption('stages');
  assert.equal(new URL(page.url()).searchParams.get('y'), 'stages');
});
await visit('full_sweep_of_workloads', '/sweeps/4', ['every workload: kv=int8, n_q=1, streams=1', 'none may rank, so far'], async () => {
  await hasRow(/^spread=nonetwo_cell/);
  await page.getByRole('combobox').first().selectOption({ index: 1 });
  await page.waitForURL(/workload=.*first_to_last/);
});
await visit('full_sweep_ended_early', '/sweeps/3', [/at most 4 s of running time a workload/, 'not told apart'], async () => {
  await page.getByText('1 configuration tried, so nothing varies. Asked for, and not tried: cells 4, 8.').waitFor();
});
await narrow('narrow_sweep', '/sweeps/4', ['The same in all: merge=bounded.'], async () => {
  await drawn(page);
  const numbers = page.locator('.canvas').first().locator('text').filter({ hasText: /^\d+\.\d+$/ });
  assert.ok((await numbers.count()) <= 2, 'cells that are narrower than their labels have labels');
});
await visit('full_trends', '/trends', [/width=2048/, '60'], async () => {
  await page.getByRole('link', { name: /width=2048/ }).click();
  await page.waitForURL(/series=1/);
});
await visit('full_trend', '/trends?series=1', ['Changes of the level', '1.062', '[1.055, 1.068]', 'driver 570.1 to 580.1'], async () => {
  await hasCharts(1);
  await drawn(page);
  const boxes = (text) => page.locator('.canvas text').filter({ hasText: text }).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  const lowest = Math.min(...(await boxes(/^1\d\d$/)).map((tick) => tick.top));
  const marks = await boxes(/^(code|bits|epoch|driver)/);
  assert.ok(marks.length >= 3 && marks.every((mark) => mark.bottom < lowest), 'the words of marks cover the axis');
  await page.getByText('Values as a table').click();
  await page.getByText('abc03b0000').waitFor();
});
await visit('full_regressions', '/regressions?all=true', ['confirmed', `wanted ${hostile.image}`, /8\.10* µs → 8\.60* µs/]);
await visit('full_bits', '/bits?tensor=out', ['golden, epoch 2', 'epoch 1, replaced', `a fixed order of additions ${hostile.script}`]);
await visit('full_recordings', '/recordings', ['convolution', '450', 'kernel tuner cache']);
await visit('full_recording', '/recordings/1', [/1\.10* ms/, 'compile', `ptxas ${hostile.image}`, `12 rows have no time ${hostile.quotes}`], async () => {
  await page.getByText('the same in all rows below: layout=row_major').waitFor();
  assert.deepEqual((await page.locator('th').allTextContents()).map((title) => title.replace(' ↕', '')), [
    ...['row', 'median', 'samples', 'block_size_x', 'tile', 'order', 'failure'],
  ]);
  assert.equal(await page.locator('th.numeric').getByText('order').count(), 0, 'words stand right');
  await page.getByRole('button', { name: /next/i }).click();
  await page.waitForURL(/after=100/);
});
await visit('full_query', '/query', ['Choose an example'], async () => {
  await page.getByLabel('SQL').fill('SELECT 1');
  await page.keyboard.press('Control+Enter');
  await page.getByText('3 rows, cut off: max_rows 3').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('sql'), 'SELECT 1');
  await page.getByText('NULL', { exact: true }).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download as CSV' }).click()]);
  assert.equal(readFileSync(await file.path(), 'utf8'), `id,text\r\n10,${hostile.image}\r\n9,\r\n11,"a,""b"""\r\n`);
});
await visit('full_running', '/experiments/12', ['running', '1 of 4'], async () => {
  await page.locator('progress').waitFor();
  mock.finish();
  await page.getByText('Arms, stage by stage').waitFor();
  assert.equal(await page.locator('progress').count(), 0);
});
await visit('full_dark', '/sweeps/8', [/What the sweep found best/], async () => {
  await page.getByRole('button', { name: 'Dark' }).click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await hasCharts(2);
});
await visit('full_dark_trend', '/trends?series=1', ['Changes of the level'], async () => {
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'the theme is not kept');
  await page.getByRole('button', { name: 'Light' }).click();
});
await expect('full_keyboard', async () => {
  await page.goto(`${mock.address}/missing/view`);
  const isHeading = () => document.activeElement?.tagName === 'H1';
  await page.waitForFunction(isHeading);
  await page.locator('.skip').focus();
  for (let i = 0; i < 3; ++i) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Trends' }).waitFor();
  await page.waitForFunction(isHeading);
});

const views = ['', 'experiments', 'trends', 'regressions', 'sweeps', 'bits', 'recordings'];
const empty = [
  ['', 'Nothing runs'],
  ['experiments', 'assay compare'],
  ['trends', 'assay measure'],
  ['regressions', 'No regression is open'],
  ['sweeps', 'assay sweep'],
  ['bits', 'assay bits accept'],
  ['recordings', 'assay import'],
  ['trends?series=1', 'Nothing was measured'],
];
mock.mode = 'empty';
for (const [view, text] of empty) await visit(`none_${view.replace(/\W.*/, '_one') || 'overview'}`, `/${view}`, [text]);

mock.mode = 'failing';
for (const view of [...views, 'experiments/1', 'sweeps/1', 'recordings/1', 'trends?series=1', 'query?sql=SELECT+1']) {
  await visit(`failing_${view.replace(/\W.*/, '_one') || 'overview'}`, `/${view}`, [`the database is locked ${hostile.script}`]);
}
await expect('failing_retry', async () => {
  mock.mode = 'full';
  await page.goto(`${mock.address}/query?sql=nonsense`);
  await page.getByRole('alert').getByText(`no such table ${hostile.image}`).waitFor();
  mock.refused.length = 0;
  mock.mode = 'failing';
  await page.goto(`${mock.address}/recordings`);
  const again = page.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  mock.mode = 'full';
  await again.click();
  await page.getByText('convolution').first().waitFor();
});

await close();
mock.stop();
console.log(failures.length === 0 ? 'page: all as expected' : `page: failed: ${failures.join(', ')}`);
process.exit(failures.length === 0 ? 0 : 1);
