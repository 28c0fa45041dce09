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

/** `GET /spotlight/combined/vulnerabilities/v1` with the facets `cve`, `host_info` and `remediation`. */
export const crowdStrikeVulnerabilities: Shape = {
  documentation: 'https://falcon.crowdstrike.com/documentation/page/d65be7e3/spotlight-apis',
  choices: {
    cve: [
      { id: 'CVE-2014-0160', base_score: 7.5, severity: 'HIGH', exploit_status: 90, product: 'OpenSSL 1.0.1' },
      { id: 'CVE-2021-44228', base_score: 10, severity: 'CRITICAL', exploit_status: 90, product: 'Apache Log4j 2.14' },
      { id: 'CVE-2023-48795', base_score: 5.9, severity: 'MEDIUM', exploit_status: 30, product: 'OpenSSH 9.3' },
      { id: 'CVE-2022-3358', base_score: 7.5, severity: 'HIGH', exploit_status: 0, product: 'OpenSSL 3.0.5' },
      { id: 'CVE-2021-3634', base_score: 3.1, severity: 'LOW', exploit_status: 0, product: 'libssh 0.9.4' },
    ],
    status: ['open', 'open', 'open', 'reopen', 'closed'],
    system: [
      { platform: 'Windows', os_version: 'Windows Server 2022', kind: 'Server', criticality: 'Critical' },
      { platform: 'Windows', os_version: 'Windows 11', kind: 'Workstation', criticality: 'Unassigned' },
      { platform: 'Linux', os_version: 'Ubuntu 24.04', kind: 'Server', criticality: 'High' },
    ],
  },
  record: {
    id: '{hex:32#1}_{hex:32#2}',
    cid: '{hex:32#3}',
    aid: '{hex:32#1}',
    vulnerability_id: '{cve.id}',
    vulnerability_metadata_id: '{digits:16}',
    data_providers: [{ provider: 'Falcon sensor', scan_time: '{time.iso_seconds:-3600}' }],
    created_timestamp: '{time.iso_seconds:-86400}',
    updated_timestamp: '{time.iso_seconds}',
    status: '{status}',
    confidence: 'confirmed',
    apps: [
      {
        product_name_version: '{cve.product}',
        sub_status: '{status}',
        remediation: { ids: ['{hex:32#4}'] },
        evaluation_logic: { id: '{hex:32#5}' },
      },
    ],
    suppression_info: { is_suppressed: false },
    host_info: {
      hostname: '{host}',
      local_ip: '{ip}',
      machine_domain: 'example.com',
      os_version: '{system.os_version}',
      ou: '',
      site_name: 'Default-First-Site-Name',
      system_manufacturer: 'Example',
      tags: [],
      platform: '{system.platform}',
      product_type_desc: '{system.kind}',
      asset_criticality: '{system.criticality}',
      internet_exposure: 'No',
      managed_by: 'Falcon sensor',
      groups: [],
    },
    cve: {
      id: '{cve.id}',
      base_score: '{cve.base_score}',
      severity: '{cve.severity}',
      exploit_status: '{cve.exploit_status}',
      description: 'Synthetic finding for {cve.id}.',
      published_date: '{time.iso_seconds:-31536000}',
      references: ['https://www.cve.org/CVERecord?id={cve.id}'],
    },
    remediation: {
      entities: [
        {
          id: '{hex:32#4}',
          reference: '',
          title: 'Update {cve.product}',
          action: 'Install a later version than {cve.product}.',
          link: '',
          vendor_url: '',
        },
      ],
    },
  },
};
