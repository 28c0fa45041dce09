const key = `northwind-events ${location.pathname}`;
const longest = 30;

interface Entry {
  time: string;
  name: string;
  detail: string;
}

/**
 * Adds an event to the log of what the form reported, newest first. The log is kept in
 * `sessionStorage`, so the next page in the same tab shows it too.
 * @param detail an object is shown as JSON
 */
export function log(name: string, detail: string | object = ''): void {
  const text = typeof detail === 'string' ? detail : JSON.stringify(detail, null, 1);
  const entries = [{ time: new Date().toLocaleTimeString([], { hour12: false }), name, detail: text }, ...kept()];
  try {
    sessionStorage.setItem(key, JSON.stringify(entries.slice(0, longest)));
  } catch {
    // Storage is blocked: show the event without keeping it.
  }
  show(entries.slice(0, longest));
}

/** Shows the events that earlier pages in this tab logged. */
export function showEvents(): void {
  show(kept());
}

function kept(): Entry[] {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '[]');
  } catch {
    return [];
  }
}

function show(entries: readonly Entry[]): void {
  const rows = entries.map(({ time, name, detail }) => {
    const row = document.createElement('li');
    row.append(part('time', time), ' ', part('b', name), ' ', part('code', detail));
    return row;
  });
  document.querySelector('#events')?.replaceChildren(...rows);
}

function part(tag: 'time' | 'b' | 'code', text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
