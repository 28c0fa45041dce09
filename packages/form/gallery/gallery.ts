/**
 * Renders one scene of the form, for example `?scene=create&theme=dark&dir=rtl`, or a list of all
 * scenes if none is named. `?bare` disables the built-in styles. Exposes the fake form as
 * `window.form` and the reported heights as `window.heights`, for tests. With `?live`, exposes
 * `window.openLive` instead, which opens a real form with an in-memory service.
 */
import { deriveTokens } from '../src/appearance/derive-tokens.js';
import en from '../src/messages/en.json' with { type: 'json' };
import { createMessages } from '../src/messages/index.js';
import { mountView } from '../src/view/root.js';
import { removeBuiltInStyles } from '../src/view/built-in-styles.js';
import { errorResponse } from '../src/testing/fake-service.js';
import { openForm } from '../src/testing/open-form.js';
import { FakeForm } from './fake-form.js';
import { scenes } from './scenes.js';

const query = new URLSearchParams(location.search);
const theme = query.get('theme') === 'dark' ? 'dark' : 'light';
const tokens = deriveTokens({}, theme);
const { dir, style } = document.documentElement;
style.colorScheme = theme;
style.background = tokens.surface;
for (const [name, value] of Object.entries(tokens)) style.setProperty(`--cf-${name}`, value);
document.documentElement.dir = query.get('dir') ?? dir;
if (query.has('bare')) removeBuiltInStyles();

const scene = scenes[query.get('scene') ?? ''];
const host = document.getElementById('form');
if (scene && host) {
  const form = new FakeForm(scene);
  const heights: number[] = [];
  mountView(form, host, { messages: createMessages(en), tokens, onHeight: (px) => void heights.push(px) });
  Object.assign(window, { form, heights });
} else if (query.has('live') && host) {
  const openLive = (...settings: Parameters<typeof openForm>): void => {
    const opened = openForm(...settings);
    const messages = createMessages(en);
    mountView(opened.form, host, { messages, tokens });
    Object.assign(window, { ...opened, errorResponse });
  };
  Object.assign(window, { openLive });
} else {
  document.body.replaceChildren();
  for (const name of Object.keys(scenes)) {
    const link = document.createElement('a');
    link.href = `?scene=${name}`;
    link.textContent = name;
    document.body.append(link, ' ');
  }
}
