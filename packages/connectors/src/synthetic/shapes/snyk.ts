import type { Shape } from '../template.js';

export const snykIssues: Shape = {
  documentation: 'https://docs.snyk.io/snyk-api/reference/issues',
  choices: {
    issue: [
      { title: 'Prototype Pollution', level: 'high', score: 710, cwe: 'CWE-1321' },
      { title: 'Regular Expression Denial of Service (ReDoS)', level: 'medium', score: 430, cwe: 'CWE-1333' },
      { title: 'SQL Injection', level: 'critical', score: 890, cwe: 'CWE-89' },
      { title: 'Information Exposure', level: 'low', score: 210, cwe: 'CWE-200' },
    ],
    status: ['open', 'open', 'resolved'],
  },
  record: {
    id: '{uuid}',
    type: 'issue',
    attributes: {
      key: '{uuid#2}',
      title: '{issue.title}',
      type: 'package_vulnerability',
      created_at: '{time.iso:-86400}',
      updated_at: '{time.iso}',
      effective_severity_level: '{issue.level}',
      status: '{status}',
      ignored: false,
      classes: [{ id: '{issue.cwe}', source: 'CWE', type: 'weakness' }],
      problems: [
        {
          id: 'SNYK-JS-EXAMPLE-{int:1000000:9999999}',
          source: 'SNYK',
          type: 'vulnerability',
          updated_at: '{time.iso}',
        },
      ],
      coordinates: [
        {
          is_fixable_manually: false,
          is_fixable_snyk: true,
          is_fixable_upstream: false,
          remedies: [
            { type: 'indeterminate', description: 'Upgrade the package version to 2.4.1 to fix this vulnerability' },
          ],
          representations: [{ dependency: { package_name: 'example-parser', package_version: '2.3.0' } }],
        },
      ],
      risk: { score: { model: 'v1', value: '{issue.score}' }, factors: [] },
    },
    relationships: {
      organization: { data: { id: '{uuid#3}', type: 'organization' } },
      scan_item: { data: { id: '{uuid#4}', type: 'project' } },
    },
  },
};
