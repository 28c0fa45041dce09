import type { DataRecord, TesterConfig } from '@connector-frame/engine/connector-api';
import type { InputSettings } from '../_shared/objects/input-settings.js';
import { text } from '../_shared/read.js';

/** Reads settings that have only an account and a container. */
export function platformLogSettings({ settings }: TesterConfig): InputSettings {
  return {
    prefix: text(settings, 'prefix') ?? '',
    format: 'jsonl',
    columns: [],
    location: undefined,
    compression: 'none',
    layout: undefined,
    matches: (key) => key.endsWith('.json'),
    since: undefined,
  };
}

/**
 * Reads the settings of VNet flow logs. The subscription, resource group and network are those of the
 * resource whose flows are logged; the path of a blob has those of the Network Watcher.
 * https://learn.microsoft.com/azure/network-watcher/vnet-flow-logs-overview#log-format
 */
export function vnetFlowSettings(config: TesterConfig): InputSettings {
  const { settings } = config;
  const base = platformLogSettings(config);
  const region = text(settings, 'region')?.toLowerCase();
  const wanted = [
    ['subscriptions', text(settings, 'subscription_id')],
    ['resourcegroups', text(settings, 'resource_group_name')],
    ['virtualnetworks', text(settings, 'virtual_network_name')],
  ].flatMap(([kind, name]) => (name === undefined ? [] : [`/${kind}/${name}/`.toLowerCase()]));
  return {
    ...base,
    matches: (key) => base.matches(key) && !isOtherRegion(key, region),
    accepts: ({ targetResourceID: target }: DataRecord) => {
      const resource = `${typeof target === 'string' ? target.toLowerCase() : ''}/`;
      return wanted.every((part) => resource.includes(part));
    },
  };
}

/** Returns whether the path names the Network Watcher of another region. Its name may be a custom one. */
function isOtherRegion(key: string, region: string | undefined): boolean {
  const named = /\/networkwatcher_([a-z0-9]+)_/.exec(key.toLowerCase())?.[1];
  return region !== undefined && named !== undefined && named !== region;
}
