import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { parseKeyPath, valueAt } from '../../conditions/key-path.js';
import type { DataRecord } from '../../records/record.js';
import { text } from '../read.js';

/** Characters of a message; Slack shows more, and cuts off at 40,000. https://docs.slack.dev/reference/methods/chat.postMessage */
export const MAX_TEXT = 4_000;
const CUT = ' … (cut)';

/** The text of a message for one record, never longer than `MAX_TEXT`. Blank: there is nothing to say. */
export type Render = (line: string, record: () => DataRecord) => string;

/** The template of the settings, with `{{ path.to.value }}` in it; without one the record as it is. */
export function createRender(settings: ConnectorConfig['settings']): Render {
  const template = text(settings, 'message_template');
  if (template === undefined) {
    // A record may hold what ends a block of code.
    return (line) => `\`\`\`${cut(escape(line.replaceAll('```', "'''")), MAX_TEXT - 6)}\`\`\``;
  }
  const parts = template.split(/\{\{([^{}]*)\}\}/).map((part, index) => {
    const path = index % 2 === 1 ? parseKeyPath(part.trim()) : undefined;
    // What the person wrote stands as it is, with mentions and links if they like. Nothing a record holds becomes one.
    return path ? (record: DataRecord) => escape(shown(valueAt(record, path))) : () => (index % 2 === 1 ? '' : part);
  });
  return (_line, record) => cut(parts.map((part) => part(record())).join(''), MAX_TEXT);
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Text that Slack shows as it is: no link, no mention, no ping of a channel.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
function escape(value: string): string {
  return (
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // Plain words ping nobody unless a workspace says so; a joiner that has no width makes sure.
      .replace(/@(?=channel|here|everyone)/gi, '@\u2060')
  );
}

function cut(value: string, max: number): string {
  if (value.length <= max) return value;
  const kept = value.slice(0, max - CUT.length);
  // Not in the middle of an escape or a character.
  return kept.replace(/&[a-z]{0,3}$|[\uD800-\uDBFF]$/, '') + CUT;
}
