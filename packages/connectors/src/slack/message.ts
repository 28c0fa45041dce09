import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type DataRecord, parseKeyPath, valueAt } from '@connector-frame/engine/connector-api';
import { text } from '../_shared/read.js';

/**
 * Maximum characters of a message. Slack allows more, and truncates at 40,000.
 * https://docs.slack.dev/reference/methods/chat.postMessage
 */
export const MAX_TEXT = 4_000;
const CUT = ' … (cut)';

/**
 * Returns the text of the message for one record, at most `MAX_TEXT` characters. Blank text means
 * that there is nothing to post.
 */
export type Render = (line: string, record: () => DataRecord) => string;

/**
 * Compiles the message template of the settings, with placeholders such as `{{ path.to.value }}`.
 * Without a template, the message is the record's JSON.
 */
export function createRender(settings: ConnectorConfig['settings']): Render {
  const template = text(settings, 'message_template');
  if (template === undefined) {
    // A record may contain the end of a code block.
    return (line) => `\`\`\`${cut(escape(line.replaceAll('```', "'''")), MAX_TEXT - 6)}\`\`\``;
  }
  const parts = template.split(/\{\{([^{}]*)\}\}/).map((part, index) => {
    const path = index % 2 === 1 ? parseKeyPath(part.trim()) : undefined;
    // The template's own text is not escaped: its author may use mentions and links. Values from a
    // record are escaped.
    return path ? (record: DataRecord) => escape(shown(valueAt(record, path))) : () => (index % 2 === 1 ? '' : part);
  });
  return (_line, record) => cut(parts.map((part) => part(record())).join(''), MAX_TEXT);
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Escapes text so that Slack displays it literally: without links, mentions or channel
 * notifications.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
function escape(value: string): string {
  return (
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // Plain `@channel` notifies nobody unless the workspace enables that; a zero-width joiner
      // rules it out.
      .replace(/@(?=channel|here|everyone)/gi, '@\u2060')
  );
}

function cut(value: string, max: number): string {
  if (value.length <= max) return value;
  const kept = value.slice(0, max - CUT.length);
  // Don't cut inside an escape sequence or a surrogate pair.
  return kept.replace(/&[a-z]{0,3}$|[\uD800-\uDBFF]$/, '') + CUT;
}
