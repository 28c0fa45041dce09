import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launch } from './frame.mjs';
import { median, report } from './lib.mjs';

const TYPES = 500;
const ROUNDS = 12;
/** Duration of one frame at 60 Hz, in milliseconds. */
const FRAME = 1_000 / 60;

const vendors = [
  'Okta',
  'GitHub',
  'AWS',
  'Cloudflare',
  'Microsoft',
  'Google',
  'Slack',
  'Snyk',
  'Tailscale',
  'CrowdStrike',
];
const things = [
  'Audit Logs',
  'Users',
  'Devices',
  'Alerts',
  'Findings',
  'Activity',
  'Groups',
  'Sign-ins',
  'Incidents',
  'Assets',
];
const types = Array.from({ length: TYPES }, (_, index) => {
  const name = `${vendors[index % 10]} ${things[Math.floor(index / 10) % 10]} ${Math.floor(index / 100)}`;
  return {
    type_id: name.toLowerCase().replaceAll(' ', '-'),
    name,
    description: `What changed, and who changed it, in the ${name.toLowerCase()} of your organization.`,
    category: ['Identity Security', 'Cloud Security', 'SaaS', 'Endpoint Security'][index % 4],
    icon: null,
  };
});

/** Serves a page that contains only the picker. */
async function servePage() {
  const { outputFiles } = await build({
    stdin: {
      contents: `import '@connector-frame/element/define-catalog'`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  const server = createServer((request, response) => {
    const isScript = request.url === '/picker.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(
      isScript
        ? outputFiles[0].text
        : '<!doctype html><script type="module" src="/picker.js"></script><connector-catalog></connector-catalog>',
    );
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  return { origin: `http://localhost:${server.address().port}`, close: () => server.close() };
}

/**
 * Runs in the page. Returns the milliseconds from a search input event to the laid-out results, for
 * each letter of each word.
 */
async function typeWords({ types, rounds }) {
  const picker = document.querySelector('connector-catalog');
  picker.types = types;
  await picker.updateComplete;
  const search = picker.shadowRoot.querySelector('input');
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const word of ['okta sign', 'crowdstirke', 'zzzz', 'audit 3']) {
      for (let length = 1; length <= word.length; length += 1) {
        const started = performance.now();
        search.value = word.slice(0, length);
        search.dispatchEvent(new InputEvent('input', { bubbles: true }));
        picker.getBoundingClientRect();
        times.push(performance.now() - started);
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
  }
  return times;
}

export default async function picker() {
  const [page, browser] = await Promise.all([servePage(), launch()]);
  try {
    const tab = await browser.newPage();
    await tab.goto(page.origin);
    await tab.waitForFunction(() => customElements.get('connector-catalog') !== undefined);
    const times = (await tab.evaluate(typeWords, { types, rounds: ROUNDS })).sort((a, b) => a - b);
    const late = times[Math.floor(times.length * 0.95)];
    const told = `${median(times).toFixed(1)} ms, 95th percentile ${late.toFixed(1)} ms`;
    report(`a key press in the picker to the results, ${TYPES} types`, told, `${FRAME.toFixed(1)} ms`, late <= FRAME);
  } finally {
    await browser.close();
    page.close();
  }
}
