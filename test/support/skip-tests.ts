import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestRunner, type RunnerTask, type RunnerTestSuite } from 'vitest';
import { daysOf, isToday } from './daily-files.js';

/** Which tests need a program, by file and by the title with those of the suites around it. */
const users: Readonly<Record<string, { files?: RegExp; titles?: RegExp }>> = {
  PostgreSQL: {
    files: /connectors\/(?:postgresql\/(?!client)|redshift\/)|store\/lost-connections|browser\/attack-kept-secret/,
    titles:
      /PostgreSQL|on two replicas|two replicas that start together|two replicas and two workers|processes share a database/,
  },
  Go: { titles: /oapi-codegen|\(Go\)/ },
  Python: { titles: /openapi-python-client|Schemathesis|hadolint/ },
  HAProxy: { titles: /a replica and a proxy|two replicas and two workers|kills of workers, replicas/ },
  MariaDB: { files: /connectors\/mysql\// },
  kcat: { files: /connectors\/kafka\/(input|output)\.test/ },
  Dovecot: { files: /connectors\/imap-mailbox\/imap/ },
  InfluxDB: { titles: /a real InfluxDB/ },
  OpenSSH: { files: /connectors\/sftp\/sftp/ },
  Prometheus: { titles: /a real Prometheus/ },
  Unbound: { titles: /queries and responses of Unbound/ },
  rsyslog: { files: /monad-syslog\/rsyslog\.test/, titles: /a certificate that senders can trust/ },
};

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Runs tests as Vitest does, and skips those that need a program named in `MISSING_PROGRAMS`, which
 * `npm test` sets, and those that run on another day. The report gives the reason.
 */
export default class SkipTests extends TestRunner {
  readonly #missing = Object.entries(users).filter(([program]) =>
    process.env['MISSING_PROGRAMS']?.split(',').includes(program),
  );

  /** The tests of each file that run today. */
  readonly #today = new WeakMap<RunnerTask, RunnerTask[]>();

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    // Its hooks would start the program.
    if (this.#reasonFor(suite) !== undefined)
      Object.assign(TestRunner.getSuiteHooks(suite), { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] });
    await super.onBeforeRunSuite(suite);
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    const reason = this.#reasonFor(test);
    if (reason !== undefined && test.mode !== 'skip')
      Object.assign(test, { mode: 'skip', result: { state: 'skip', note: reason } });
    await super.onBeforeRunTask(test);
  }

  #reasonFor(task: RunnerTask): string | undefined {
    const file = relative(root, task.file.filepath).replaceAll('\\', '/');
    const title = titleOf(task);
    const [program] = this.#missing.find(([, { files, titles }]) => files?.test(file) || titles?.test(title)) ?? [];
    if (program !== undefined) return `${program} is missing`;
    if (daysOf(file) === 1) return undefined;
    const today = this.#today.get(task.file) ?? testsOf(task.file).filter((_test, index) => isToday(file, index));
    this.#today.set(task.file, today);
    return testsOf(task).some((test) => today.includes(test)) ? undefined : 'runs on another day';
  }
}

/** Returns the tests of a suite that are not skipped, in their order. */
const testsOf = (task: RunnerTask): RunnerTask[] =>
  task.type === 'suite' ? task.tasks.flatMap(testsOf) : task.mode === 'skip' ? [] : [task];

const titleOf = (task: RunnerTask): string =>
  task.suite ? `${titleOf(task.suite)} ${task.name}` : task.type === 'suite' && 'filepath' in task ? '' : task.name;
