/** Shared by the pages with a script: changing the theme without a reload, and the event log. */
import { showEvents } from './event-log.js';
import { bindLook, currentLook, onLookChange } from './look.js';

const hint = document.querySelector<HTMLElement>('#look-hint');
let opened = currentLook();
const follow = () => {
  if (hint) hint.hidden = opened === currentLook() || !document.querySelector('connector-frame');
};

// A form reads its appearance once, when it opens. Changing it requires a reload, which would
// discard unsaved input, so the user decides.
document.addEventListener('ready', () => ((opened = currentLook()), follow()), { capture: true });
hint?.querySelector('button')?.addEventListener('click', () => document.querySelector('connector-frame')?.reload());
onLookChange(follow);

const look = document.querySelector<HTMLFormElement>('#look');
if (look) bindLook(look);
showEvents();
