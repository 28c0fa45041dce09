import { PROTOCOL_SOURCE, PROTOCOL_VERSION } from '../protocol/messages.js';
import type { FakeFrameOptions } from './fake-frame-options.js';
import { fakeFramePage, type FakeFrameSettings } from './fake-frame-page.js';

/** Tag of the messages between `driveFakeFrame` and the fake form. */
export const DRIVER_SOURCE = 'connector-frame-driver';

/**
 * Returns the HTML of a fake form, without external resources. Serve it at your page's
 * `frameOrigin`. It implements the protocol, and shows a name input and the buttons Save, Cancel,
 * Fail and Expire session.
 *
 * @example
 * ```ts
 * const body = fakeFrameHtml();
 * await page.route(/^https:..embed.example.com/, (route) => route.fulfill({ contentType: 'text/html', body }));
 * ```
 */
export function fakeFrameHtml(options: FakeFrameOptions = {}): string {
  return htmlOf(options, null);
}

/** As `fakeFrameHtml`; the page also posts what it receives to the URL `reportTo`. */
export function htmlOf(options: FakeFrameOptions, reportTo: string | null): string {
  const settings: FakeFrameSettings = {
    options,
    source: PROTOCOL_SOURCE,
    version: PROTOCOL_VERSION,
    driver: DRIVER_SOURCE,
    reportTo,
  };
  // `<` could end the script element. Some bundlers wrap functions in calls of `__name`.
  const json = JSON.stringify(settings).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="color-scheme" content="light dark">
  <title>Fake connector form</title>
  <style>
    body { margin: 0; padding: 24px; font: 14px/20px system-ui, sans-serif; }
    h1 { margin: 0; font-size: 16px; }
    p { margin: 0 0 20px; opacity: .7; }
    label { display: block; margin-bottom: 20px; font-weight: 500; }
    input { display: block; box-sizing: border-box; width: 100%; height: 40px; margin-top: 4px; padding: 0 12px; font: inherit; }
    button { height: 40px; padding: 0 16px; font: inherit; }
  </style>
  <h1 id="title">Fake connector form</h1>
  <p id="status" role="status">Waiting for init</p>
  <label>Name <input></label>
  <button id="save">Save</button>
  <button id="cancel">Cancel</button>
  <button id="fail">Fail</button>
  <button id="expire">Expire session</button>
  <p id="question" hidden>
    Discard what you typed?
    <button id="discard">Discard</button>
    <button id="keep">Keep editing</button>
  </p>
  <script>
    const __name = (value) => value;
    (${fakeFramePage.toString()})(${json});
  </script>
</html>
`;
}
