import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { at, text, texts } from '../_shared/read.js';
import type { StartAt } from './positions.js';
import { compilePattern } from './topic-pattern.js';

/** Times in milliseconds. */
export interface InputSettings {
  groupId: string;
  /** Topics listed by name. */
  names: string[];
  /** Whether a topic matches one of the patterns. Absent: no patterns are configured. */
  matches?: (name: string) => boolean;
  startAt: StartAt;
  commitEvery: number;
  fetchWait: number;
  sessionTimeout: number;
  socketTimeout: number;
  drainTimeout: number;
}

export function readInputSettings({ settings }: TesterConfig): InputSettings | Failure {
  const topics = texts(settings, 'topics');
  const patterns = topics.flatMap((topic, index) => (topic.startsWith('^') ? [{ topic, index }] : []));
  const compiled = patterns.map(({ topic }) => compilePattern(topic));
  const wrong = patterns.filter((_pattern, index) => compiled[index] === undefined);
  if (wrong.length > 0) {
    return failed('invalid_config', 'This is not a pattern we can read.', {
      hint: 'Letters stand for themselves; dots, [sets], *, + and ? work, and $ at the end. Give each choice a row.',
      at: wrong.map(({ index }) => `/settings/topics/${index}`),
    });
  }
  const startAt = text(settings, 'auto_offset_reset');
  const sessionTimeout = Number(at(settings, 'session_timeout_ms') ?? 10_000);
  return {
    groupId: text(settings, 'group_id') ?? '',
    names: topics.filter((topic) => !topic.startsWith('^')),
    ...(compiled.length > 0 && { matches: (name: string) => compiled.some((match) => match?.(name)) }),
    startAt: startAt === 'smallest' || startAt === 'error' ? startAt : 'largest',
    commitEvery: Number(at(settings, 'commit_interval_ms') ?? 5_000),
    fetchWait: Number(at(settings, 'fetch_wait_max_ms') ?? 100),
    sessionTimeout,
    socketTimeout: Number(at(settings, 'socket_timeout_ms') ?? 60_000),
    drainTimeout: Number(at(settings, 'drain_timeout_ms') ?? sessionTimeout),
  };
}
