import { fromTemplate } from '../shared/dom.js';

/** Writes down what the form tells the page, newest first. */
export type EventLog = (name: string, detail?: string) => void;

const longest = 50;

export function createEventLog(list: HTMLElement): EventLog {
  return (name, detail = '') => {
    const { root, slot } = fromTemplate('event');
    slot('time').textContent = new Date().toLocaleTimeString([], { hour12: false });
    slot('name').textContent = name;
    slot('detail').textContent = detail;
    list.prepend(root);
    while (list.childElementCount > longest) list.lastElementChild?.remove();
  };
}
