/** What the pages with a script share, around the product: the look without a new page, and the list of events. */
import { showEvents } from './event-log.js';
import { bindLook, currentLook, onLookChange } from './look.js';

const hint = document.querySelector<HTMLElement>('#look-hint');
let opened = currentLook();
const follow = () => {
  if (hint) hint.hidden = opened === currentLook() || !document.querySelector('connector-frame');
};

// A form takes its look once: typed work is not thrown away for another one unless the person says so.
document.addEventListener('ready', () => ((opened = currentLook()), follow()), { capture: true });
hint?.querySelector('button')?.addEventListener('click', () => document.querySelector('connector-frame')?.reload());
onLookChange(follow);

const look = document.querySelector<HTMLFormElement>('#look');
if (look) bindLook(look);
showEvents();
