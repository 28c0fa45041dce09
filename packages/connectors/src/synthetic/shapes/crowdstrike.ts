import type { Shape } from '../template.js';

export const crowdStrikeEventStream: Shape = {
  documentation: 'https://falcon.crowdstrike.com/documentation/page/d88d0ff8/streaming-api-event-dictionary',
  choices: {
    event: [
      {
        type: 'AuthActivityAuditEvent',
        event: {
          UserId: '{person.email}',
          UserIp: '{ip}',
          OperationName: 'twoFactorAuthenticate',
          ServiceName: 'CrowdStrike Authentication',
          Success: true,
          UTCTimestamp: '{time.seconds}',
          AuditKeyValues: [{ Key: 'target_name', ValueString: '{person.email}' }],
        },
      },
      {
        type: 'EppDetectionSummaryEvent',
        event: {
          Name: 'Suspicious Activity',
          Severity: 70,
          SeverityName: 'High',
          Hostname: '{host}',
          UserName: '{person.login}',
          LocalIP: '{ip}',
          MACAddress: '{mac}',
          FileName: 'example.exe',
          CommandLine: 'example.exe --help',
          Tactic: 'Execution',
          Technique: 'User Execution',
          CompositeId: '{hex:32}:ind:{hex:32#2}:{digits:12}',
          ProcessStartTime: '{time.seconds:-5}',
        },
      },
      {
        type: 'UserActivityAuditEvent',
        event: {
          UserId: '{person.email}',
          UserIp: '{ip}',
          OperationName: 'update_policy',
          ServiceName: 'prevention_policy',
          Success: true,
          UTCTimestamp: '{time.seconds}',
          AuditKeyValues: [],
        },
      },
    ],
  },
  record: {
    metadata: {
      customerIDString: '{hex:32#3}',
      offset: '{sequence}',
      eventType: '{event.type}',
      eventCreationTime: '{time.milliseconds}',
      version: '1.0',
    },
    event: '{event.event}',
  },
};
