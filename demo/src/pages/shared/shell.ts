/** Shared by the pages with a script: changing the theme without a reload, and the event log. */
import { showEvents } from './event-log.js';
import { bindThemeForm, currentTheme, onThemeChange } from './theme.js';

const hint = document.querySelector<HTMLElement>('#theme-hint');
let opened = currentTheme();
const follow = () => {
  if (hint) hint.hidden = opened === currentTheme() || !document.querySelector('connector-frame');
};

// A form reads its appearance once, when it opens. Changing it requires a reload, which would
// discard unsaved input, so the user decides.
document.addEventListener('ready', () => ((opened = currentTheme()), follow()), { capture: true });
hint?.querySelector('button')?.addEventListener('click', () => document.querySelector('connector-frame')?.reload());
onThemeChange(follow);

const theme = document.querySelector<HTMLFormElement>('#theme');
if (theme) bindThemeForm(theme);
showEvents();
