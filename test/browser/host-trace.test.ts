import { afterAll, beforeAll, expect, test } from 'vitest';
import { frameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { differences, traceHost, type HostTrace } from '../support/host-trace/host-trace.js';
import { layoutNames, layoutPage } from '../support/host-trace/layouts.js';
import { long } from '../support/long.js';
import { logRequests } from '../support/request-log.js';
import { serve } from '../support/serve.js';

// Positive and negative controls for every test that compares two traces: the recorder detects the
// known leaks, and two equal runs leave equal traces.

/** A form with an ordinary password field. */
const usual = `<!doctype html><style>body { margin: 0 } input { width: 100%; font: 32px monospace }</style>
<label>Secret <input type="password"></label>`;

/** A form that leaks its number of characters to the page over every channel. */
const talkative = `<!doctype html><label>Secret <input type="password"></label><script>
  const input = document.querySelector('input');
  input.addEventListener('input', () => {
    const host = document.referrer;
    const { length } = input.value;
    parent.postMessage({ length }, '*');
    new Image().src = host + 'leak?' + length;
    document.body.append(document.createElement('iframe'));
    history.pushState(null, '', '#' + length);
  });
  input.addEventListener('blur', () => parent.focus());
</script>`;

let sites: { origin: string; close(): Promise<void> }[];

beforeAll(async () => {
  const forms = await Promise.all([serve({ '/': usual }), serve({ '/': talkative })]);
  const holding = (origin = '') =>
    `<main id="form"><iframe referrerpolicy="origin" src="${origin}"></iframe></main>
     <script>onmessage = ({ data }) => (document.querySelector('iframe').height = 150 + data.length)</script>`;
  const layouts = layoutNames.map((name) => [`/${name}`, layoutPage(name, holding(forms[0]?.origin))]);
  const host = await serve(
    { ...Object.fromEntries(layouts), '/talkative': layoutPage('plain', holding(forms[1]?.origin)), '/leak': '' },
    '127.0.0.1',
  );
  sites = [host, ...forms];
});
afterAll(() => Promise.all((sites ?? []).map((site) => site.close())));

inEngines('the observations of a host page', ['Chromium'], ({ browser }) => {
  /**
   * Returns what a page observes while a secret is typed, one key at a time so that each keystroke
   * is a separate step in the trace.
   */
  async function observe(path: string, secret: string): Promise<HostTrace> {
    const page = await browser().newPage();
    const origin = sites[0]?.origin ?? '';
    await page.goto(`${origin}/${path}`);
    const tracer = await traceHost(page, { servers: [origin] });
    const user = frameUser(page);
    await user.focus({ label: 'Secret' });
    await tracer.start();
    for (const key of secret) {
      await page.keyboard.type(key);
      await tracer.settled();
    }
    const trace = await tracer.trace();
    tracer.stop();
    expect(await user.value('Secret')).toBe(secret);
    await page.close();
    return trace;
  }

  const leaking = layoutNames.filter((name) => name !== 'plain');
  test.each(long ? leaking : (['clip'] as const))(
    'reveal the length of a secret in a native password field: layout %s',
    async (layout) => {
      const [one, again, longer] = [
        await observe(layout, 'abcd'),
        await observe(layout, 'ABCD'),
        await observe(layout, 'abcdef'),
      ];
      expect(differences(one, again)).toEqual([]);
      // A page that resets its scroll position at once observes the position only in events.
      expect(differences(one, longer)).toContain(layout === 'restless' ? 'scroll' : 'positions');
    },
  );

  test('reveal no length unless the layout makes the caret scroll the page', async () => {
    expect(differences(await observe('plain', 'abcd'), await observe('plain', 'ABCDEFGH'))).toEqual([]);
  });

  test('include messages, requests, windows and navigations of a frame', async () => {
    const one = await observe('talkative', 'abcd');
    const longer = await observe('talkative', 'abcdef');
    const channels = [
      'message',
      'resize',
      'boxes',
      'positions',
      'frames in the frame',
      'history',
      'document',
      `requests to ${sites[0]?.origin}`,
    ];
    expect(differences(one, longer)).toEqual(expect.arrayContaining(channels));
    expect(differences(one, await observe('talkative', 'ABCD'))).toEqual([]);
  });
});

/**
 * A leak that no frame can prevent: HTML gives every ancestor of a frame user activation for each
 * key pressed in it (https://html.spec.whatwg.org/#activation-notification). A page that consumes
 * it each time can count the keystrokes, but not see which keys they are. Documented in
 * SECURITY.md.
 */
inEngines('a page that consumes user activation', [], ({ engine, browser, testUnless }) => {
  testUnless('activationIsUsedUp', 'can count the keys typed in a frame', async () => {
    const using = engine === 'Firefox' ? `document.createElement('i').requestFullscreen()` : `open('', 'w').close()`;
    const form = await serve({ '/': usual });
    const body = `<iframe src="${form.origin}"></iframe><script>
      (async function look() {
        if (navigator.userActivation.isActive) {
          fetch('/used');
          try { await ${using} } catch {}
        }
        setTimeout(look);
      })();
    </script>`;
    const host = await serve({ '/': body, '/used': '' }, '127.0.0.1');
    const log = logRequests();
    const used = (): number => log.linesTo(host.origin).filter((line) => line === 'GET /used').length;
    const page = await browser().newPage();
    await page.goto(host.origin);
    // Do not read from the page or its frame in between: scripts that a driver runs there also
    // count as activation.
    await page.keyboard.press('Tab');
    for (const count of [1, 2, 3, 4, 5]) {
      await expect.poll(used).toBe(count);
      await page.keyboard.type('x');
    }
    expect(await frameUser(page).value('Secret')).toBe('xxxxx');
    log.stop();
    await page.close();
    await Promise.all([host.close(), form.close()]);
  });
});
