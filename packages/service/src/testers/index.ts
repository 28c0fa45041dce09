import { createCrowdstrikeEventStreamTester } from './crowdstrike.js';
import { createDatadogTester } from './datadog.js';
import { testElasticsearch } from './elasticsearch.js';
import { createGithubAuditLogTester } from './github.js';
import { testHttp } from './http.js';
import { testOktaSystemLog } from './okta.js';
import { testPostgresqlInput } from './postgresql/input.js';
import { testPostgresqlOutput } from './postgresql/output.js';
import { createS3InputTester } from './s3/input.js';
import { createS3OutputTester } from './s3/output.js';
import { createSlackTester } from './slack.js';
import { testSplunk } from './splunk.js';
import type { Tester } from './tester.js';

export type * from './tester.js';

const objectStorage = { product: 'the storage', address: '/settings/endpoint', credential: '/secrets/secret_key' };

/** By kind and type id: `input:okta-systemlog`. A type that is not here has no test, and the form shows no button. */
export const testers: ReadonlyMap<string, Tester> = new Map([
  ['input:crowdstrike-event-stream', createCrowdstrikeEventStreamTester()],
  ['input:github-audit-logs', createGithubAuditLogTester()],
  ['input:object-storage', createS3InputTester(objectStorage)],
  ['input:okta-systemlog', testOktaSystemLog],
  ['input:postgresql', testPostgresqlInput],
  ['input:s3', createS3InputTester()],
  ['output:datadog', createDatadogTester()],
  ['output:elasticsearch', testElasticsearch],
  ['output:http', testHttp],
  ['output:object-storage', createS3OutputTester(objectStorage)],
  ['output:postgresql', testPostgresqlOutput],
  ['output:s3', createS3OutputTester()],
  ['output:slack', createSlackTester()],
  ['output:splunk', testSplunk],
]);
