import * as api from './api.js';
import { el, write } from './dom.js';
import type { LogLine } from './shapes.js';

/** Maximum number of lines kept on the page. */
const most = 100;

/** Initial and maximum delay, in milliseconds, before a rejected stream is requested again. */
const firstPause = 1_000;
const longestPause = 30_000;

const levels = { info: 'Info', warn: 'Warning', error: 'Error' } as const;

/**
 * Shows the log of a pipeline live. The stream is connected while the panel is open and the page is
 * visible; `stop` ends it.
 */
export function logPanel(input: api.Input, inputName: string): { root: HTMLElement; stop: () => void } {
  const lines = el('ol');
  const list = el(
    'div',
    { class: 'pipeline-log', role: 'log', 'aria-label': `Log of ${inputName}`, tabindex: '0' },
    lines,
  );
  const state = el('span', { class: 'count' }, 'connecting …');
  const shown = new Set<string>();
  let source: EventSource | undefined;
  let last: number | undefined;
  let pause = firstPause;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const add = (line: LogLine) => {
    const key = `${line.sequence} ${line.time}`;
    if (shown.has(key)) return;
    shown.add(key);
    last = line.sequence;
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 24;
    lines.append(row(line));
    while (lines.children.length > most) lines.firstElementChild?.remove();
    // Keep the scroll position of a user who is reading earlier lines.
    if (atEnd) list.scrollTop = list.scrollHeight;
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    source = new EventSource(api.logAddress(input, last));
    source.addEventListener('open', () => {
      pause = firstPause;
      write(state, 'live');
    });
    source.addEventListener('entry', ({ data }) => add(JSON.parse(data)));
    source.addEventListener('error', () => {
      write(state, 'connecting …');
      // The browser reconnects a stream that broke off, but not one that was rejected.
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, pause);
      pause = Math.min(pause * 2, longestPause);
    });
  };
  const follow = () => {
    if (document.hidden) close();
    else open();
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return {
    root: el('section', {}, el('div', { class: 'section-head' }, el('h3', {}, 'Log'), state), list),
    stop() {
      document.removeEventListener('visibilitychange', follow);
      close();
    },
  };
}

function row({ time, level, message }: LogLine): HTMLElement {
  const moment = new Date(time);
  return el(
    'li',
    { 'data-level': level },
    el('time', { datetime: time }, moment.toLocaleTimeString([], { hour12: false })),
    ' ',
    el('b', {}, levels[level] ?? level),
    ' ',
    el('span', {}, message),
  );
}
