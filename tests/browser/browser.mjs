// Chromium as the tests use it: every message of the console, dialog and violation of the content policy is a failure.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

export const dashboards = join(dirname(fileURLToPath(import.meta.url)), '../../dashboards');
const skipped = 77;

// Ends the program as skipped, with the reason.
export function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(skipped);
}

const candidates = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findChromium() {
  // Ubuntu's chromium only fetches a snap.
  const found = candidates.find((path) => existsSync(path) && !existsSync('/snap/bin/chromium'));
  return found ?? skip('no Chromium is installed (on Ubuntu its package is a snap)');
}

export function loadPlaywright() {
  const folder = join(dashboards, 'node_modules');
  if (!existsSync(join(folder, 'playwright-core'))) skip('playwright-core is not installed: scripts/dashboards.sh');
  return createRequire(join(folder, 'x.js'))('playwright-core').chromium;
}

// Waits until every chart of the page is drawn.
export async function drawn(page) {
  const isDrawn = () => [...document.querySelectorAll('.canvas')].every((canvas) => canvas.querySelector('svg path'));
  await page.waitForFunction(isDrawn, undefined, { timeout: 20_000 });
}

export async function startBrowser() {
  const executablePath = findChromium();
  const chromium = loadPlaywright();
  const folder = mkdtempSync(join(tmpdir(), 'assay-browser-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath,
    headless: true,
    // Neither the terminal's time nor whole hours from it.
    timezoneId: 'Asia/Kolkata',
    viewport: { width: 1280, height: 900 },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const complaints = [];
  // What a failing request prints is expected where a test asks for it.
  const expected = /Failed to load resource/;
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return {
    page,
    complaints,
    close: async () => {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
