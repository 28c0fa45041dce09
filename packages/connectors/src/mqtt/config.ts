import { randomUUID } from 'node:crypto';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { readTls, type BrokerAddress } from '../_shared/broker/connection.js';
import { compileName, isUnconfined, type NameTemplate } from '../_shared/broker/name-template.js';
import { at, text } from '../_shared/read.js';

export interface MqttTarget {
  address: BrokerAddress;
  username: string | undefined;
  password: string | undefined;
  clientId: string;
  /** The broker keeps the session, and with it messages, while this client is away. */
  keepsSession: boolean;
  /** Seconds. */
  keepAlive: number;
  /** Bytes. */
  maxPacket: number;
}

export function readTarget(config: TesterConfig): MqttTarget {
  const { settings, secrets } = config;
  const clientId = text(settings, 'client_id');
  return {
    address: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 1_883),
      ...(at(settings, 'tls', 'enabled') === true && { tls: readTls(config) }),
    },
    username: text(settings, 'user'),
    password: text(secrets, 'password'),
    // A broker would keep a session of a random client forever.
    clientId: clientId ?? `connector-frame-${randomUUID().slice(0, 8)}`,
    keepsSession: clientId !== undefined && at(settings, 'clean_session') !== true,
    keepAlive: Number(at(settings, 'keep_alive') ?? 60),
    maxPacket: Number(at(settings, 'max_packet_size') ?? 10_240),
  };
}

export interface InputSettings {
  topic: string;
  /** Record field for the topic; empty for none. */
  topicField: string;
}

export const readInputSettings = (settings: Record<string, unknown>): InputSettings => ({
  topic: text(settings, 'topic') ?? '',
  topicField: typeof settings['topic_key'] === 'string' ? settings['topic_key'].trim() : 'topic',
});

export interface OutputSettings {
  topic: NameTemplate;
  qos: 0 | 1 | 2;
  retain: boolean;
}

/** @throws ConnectorError `invalid_config` */
export function readOutputSettings(settings: Record<string, unknown>): OutputSettings {
  const quality = text(settings, 'quality_of_service');
  return {
    topic: compileName(text(settings, 'topic') ?? '', isUnconfined(settings), 'topic'),
    qos: quality === 'atmostonce' ? 0 : quality === 'exactlyonce' ? 2 : 1,
    retain: at(settings, 'retain') === true,
  };
}
