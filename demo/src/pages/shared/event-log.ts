const key = `northwind-events ${location.pathname}`;
const longest = 30;

interface Entry {
  time: string;
  name: string;
  detail: string;
}

/**
 * Writes down what the form told the page, newest first. A page that is left keeps its list for the next one in the same tab.
 * @param detail an object is written as JSON
 */
export function log(name: string, detail: string | object = ''): void {
  const text = typeof detail === 'string' ? detail : JSON.stringify(detail, null, 1);
  const entries = [{ time: new Date().toLocaleTimeString([], { hour12: false }), name, detail: text }, ...kept()];
  try {
    sessionStorage.setItem(key, JSON.stringify(entries.slice(0, longest)));
  } catch {
    // Storage is blocked: this event is shown, and forgotten with the page.
  }
  show(entries.slice(0, longest));
}

/** Shows what pages before this one wrote down. */
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
