import type { Shape } from '../template.js';

export const tailscaleDevices: Shape = {
  documentation: 'https://tailscale.com/api#tag/devices/GET/tailnet/{tailnet}/devices',
  choices: { os: ['linux', 'macOS', 'windows', 'iOS'] },
  record: {
    addresses: ['{ip}', '{ipv6}'],
    id: '{digits:16}',
    nodeId: 'n{letters:11}CNTRL',
    user: '{person.email}',
    name: '{host}.example.ts.example.com',
    hostname: '{host}',
    clientVersion: '1.88.{int:0:3}',
    updateAvailable: '{bool}',
    os: '{os}',
    created: '{time.iso_seconds:-31536000}',
    lastSeen: '{time.iso_seconds}',
    keyExpiryDisabled: false,
    expires: '{time.iso_seconds:15552000}',
    authorized: true,
    isExternal: false,
    machineKey: 'mkey:{hex:64}',
    nodeKey: 'nodekey:{hex:64#2}',
    blocksIncomingConnections: false,
    tags: ['tag:example'],
  },
};
