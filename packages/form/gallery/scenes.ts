import type { Field, KeptSecret } from '../src/model/field.js';
import type { FormState, FormSubject } from '../src/model/state.js';
import type { Scene } from './fake-form.js';
import { at, authentication, everyKind, signingKey, start, token, url } from './fields.js';

const ring =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>path{fill:#16171d}@media (prefers-color-scheme:dark){path{fill:#fff}}</style><path d="M12 0a12 12 0 1 0 0 24 12 12 0 0 0 0-24m0 18a6 6 0 1 1 0-12 6 6 0 0 1 0 12"/></svg>',
  );
const colored =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#ff6f00" d="M2 2h20v20H2z"/></svg>',
  );

const name: Field = { ...at('/name'), kind: 'text', label: 'Name', required: true };
const description: Field = { ...at('/description'), kind: 'text', label: 'Description' };

const subject: FormSubject = {
  mode: 'create',
  title: 'Okta System Log',
  subtitle: 'Sign-ins, admin changes and threat events from your Okta organization.',
  icon: ring,
  monogram: 'OS',
  hue: 270,
  canTest: true,
  fields: [name, url, authentication, token, start],
  advanced: [
    {
      ...at('/settings/poll'),
      kind: 'number',
      label: 'Poll every',
      integer: true,
      minimum: 10,
      maximum: 86_400,
      unit: 'seconds',
    },
    { ...at('/settings/debug'), kind: 'boolean', label: 'Include debug events' },
  ],
};

const edited: FormSubject = {
  ...subject,
  mode: 'edit',
  subtitle: 'Created 12 Nov 2026',
  fields: [url, token, signingKey],
  advanced: [],
};

const kept: KeptSecret = { id: 'sec_1', updatedAt: '2026-11-12T08:30:00Z' };

const editing = (of: Partial<Extract<FormState, { phase: 'editing' }>> = {}): FormState => ({
  phase: 'editing',
  subject,
  saving: false,
  test: { state: 'idle' },
  expired: false,
  ...of,
});

const filled = {
  '/name': 'Okta System Log 7f3k',
  '/settings/org_url': 'https://acme.okta.com',
  '/settings/auth/type': 'token',
  '/secrets/api_token': '00QCjAl4MlV-WPXM5mAnoyuY',
};

const two = [
  {
    path: '/settings/org_url',
    label: 'Organization URL',
    message: 'Use the address without “-admin” and without a path, for example https://acme.okta.com.',
  },
  {
    path: '/secrets/api_token',
    label: 'API token',
    message:
      'The address or the security of the connection changed, so the saved API token is not sent. Enter it again.',
  },
];

const everyValue = {
  '/settings/text': 'acme-production',
  '/settings/org_url': 'https://acme.okta.com',
  '/settings/email': 'admin@acme.com',
  '/settings/query': 'SELECT id, actor, action\nFROM audit_events\nWHERE created_at > :since',
  '/settings/port': 5432,
  '/settings/timeout': 30,
  '/settings/tls': true,
  '/settings/format': 'json',
  '/settings/since': '2026-11-12T08:30:00Z',
  '/settings/schedule': '30 6 * * 1-5',
  '/settings/events/0': 'user.session.start',
  '/settings/events/1': 'user.account.lock',
  '/settings/brokers/0/host': 'kafka-1.acme.com',
  '/settings/brokers/0/port': 9092,
  '/settings/rate_limit/rate': 60,
  '/settings/rate_limit/unit': 'm',
  '/settings/headers/0/key': 'X-Team',
  '/settings/headers/0/value': 'security',
  '/settings/auth/type': 'oauth',
  '/settings/sink/type': 'gzip',
  '/secrets/api_token': '00QCjAl4MlV-WPXM5mAnoyuY',
  '/secrets/service_account': '{\n  "type": "service_account",\n  "project_id": "acme"\n}',
  '/secrets/secret_headers/0/key': 'Authorization',
  '/secrets/secret_headers/0/value': 'Bearer abcdef',
};

const everyRow = {
  '/settings/events': 2,
  '/settings/brokers': 1,
  '/settings/headers': 1,
  '/secrets/secret_headers': 1,
};
const every = { ...subject, title: 'Every kind', fields: [name, description, ...everyKind] };

/** Every state of the form by name. */
export const scenes: Record<string, Scene> = {
  create: {
    state: editing({ test: { state: 'passed', summary: 'Read 1 event', durationMs: 412 } }),
    values: filled,
  },
  blank: { state: editing(), values: { '/settings/auth/type': 'token' }, problems: two },
  edit: {
    state: editing({ subject: edited }),
    values: { '/settings/org_url': 'acme-admin.okta.com/admin' },
    secrets: { '/secrets/api_token': { state: 'reentry', kept }, '/secrets/signing_key': { state: 'kept', kept } },
    errors: Object.fromEntries(two.map(({ path, message }) => [path, message])),
    problems: two,
  },
  kept: {
    state: editing({ subject: edited }),
    values: { '/settings/org_url': 'https://acme.okta.com' },
    secrets: { '/secrets/api_token': { state: 'kept', kept }, '/secrets/signing_key': { state: 'kept', kept } },
  },
  cleared: {
    state: editing({ subject: edited }),
    values: { '/settings/org_url': 'https://acme.okta.com', '/secrets/api_token': 'new-token' },
    secrets: {
      '/secrets/api_token': { state: 'typing', replaces: kept },
      '/secrets/signing_key': { state: 'cleared', kept },
    },
  },
  kinds: { state: editing({ subject: every }), values: everyValue, rows: everyRow },
  'kinds-empty': { state: editing({ subject: { ...every, icon: null, monogram: 'EK' } }) },
  'kinds-invalid': {
    state: editing({ subject: { ...every, icon: colored } }),
    values: everyValue,
    rows: everyRow,
    errors: Object.fromEntries(
      [...everyKind.map(({ path }) => path), '/settings/events/1', '/settings/brokers/0/host', '/settings/auth/type']
        .concat('/settings/sink/type', '/settings/headers/0/value', '/secrets/secret_headers/0/value')
        .map((path) => [path, 'Say what to do here, in the words of the field']),
    ),
  },
  testing: { state: editing({ test: { state: 'running' } }), values: filled },
  'test-failed': {
    state: editing({
      test: {
        state: 'failed',
        failure: {
          code: 'test_failed',
          message: 'Okta refused the token',
          hint: 'Check that the token belongs to this organization and has not been revoked, then test again.',
        },
      },
    }),
    values: filled,
  },
  saving: { state: editing({ saving: true }), values: filled },
  failure: {
    state: editing({
      failure: {
        code: 'changed_elsewhere',
        message: 'Someone else changed this connector',
        hint: 'Load the latest version; what you changed here stays. Then save again.',
        action: 'reload',
      },
    }),
    values: filled,
  },
  expired: {
    state: editing({
      expired: true,
      failure: {
        code: 'session_expired',
        message: 'Your session ended',
        hint: 'What you typed is still here. Sign in again if the page asks you to, then try again.',
      },
    }),
    values: filled,
  },
  leaving: { state: editing({ leaving: true }), values: filled },
  saved: { state: { phase: 'saved', subject }, values: filled },
  loading: { state: { phase: 'loading' } },
  'load-failed': {
    state: {
      phase: 'load_failed',
      canRetry: true,
      failure: {
        code: 'load_failed',
        message: 'The form could not be loaded',
        hint: 'Try again. If it keeps failing, contact the people who run this page.',
      },
    },
  },
  long: {
    state: editing({
      subject: {
        ...subject,
        icon: 'data:image/svg+xml,broken',
        title: 'Google Workspace Admin Activity for Enterprise Plus (Europe, Middle East and Africa)',
        canTest: false,
        fields: [
          {
            ...url,
            label: 'Fully qualified administrative organization address of the delegated tenant',
            required: false,
          },
          { ...token, label: 'Donaudampfschifffahrtsgesellschaftskapitänsmützenschlüssel' },
        ],
      },
    }),
    values: {
      '/settings/org_url': 'https://a-very-long-name-that-goes-on.and-on.and-on.example.com/path/of/some/length',
    },
  },
};
