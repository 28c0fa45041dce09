import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { describe, expect, it } from 'vitest';
import { fillIn, openedForm } from '../testing/open-form.js';
import en from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { buildFields } from './build-fields.js';
import type { Draft } from './draft.js';
import { sentTo } from './sent-to.js';

const messages = createMessages(en);
const catalog = loadCatalog();

/** Returns the destination sentence of the first secret of a catalog type. */
function sentence(kind: ComponentKind, typeId: string, settings: Draft['settings'], organization = 'Acme'): string {
  const type = catalog.get(kind, typeId);
  if (!type) throw new Error(typeId);
  const { fields, advanced } = buildFields(type);
  const all = [...fields, ...advanced];
  const secret = all.find((field) => field.kind === 'secret');
  if (!secret) throw new Error(`${typeId} has no secret`);
  const draft = { name: '', description: '', settings, secrets: {} };
  return sentTo(secret, draft, { type, fields: all, organization, messages });
}

describe('where a secret is sent, as a sentence (S31)', () => {
  it.each([
    ['input', 'okta-systemlog', { org_url: 'https://acme.okta.com' }, 'acme.okta.com'],
    ['input', 'github-audit-logs', {}, 'api.github.com'],
    ['output', 'http', { endpoint: 'https://hooks.example.com:8443/in?x=1' }, 'hooks.example.com:8443'],
    ['output', 'splunk', { url: 'https://splunk.example.com', port: '8088' }, 'splunk.example.com:8088'],
    ['input', 'mysql', { host: 'db.example.com', port: 3306 }, 'db.example.com:3306'],
  ] as const)('names the host for %s %s', (kind, typeId, settings, host) => {
    expect(sentence(kind, typeId, settings)).toBe(`Sent to ${host}, kept for Acme`);
  });

  it('names the vendor if a region or an account determines the host', () => {
    expect(sentence('input', 'aws-guardduty', { region: 'eu-west-1' })).toMatch(
      /^Sent to .+ \(eu-west-1\), kept for Acme$/,
    );
  });

  it('names the field if its address is blank', () => {
    expect(sentence('input', 'okta-systemlog', {})).toMatch(/^Sent to the address in “.+”, kept for Acme$/);
  });

  it('describes a secret that contains its own address', () => {
    expect(sentence('output', 'microsoft-teams', {})).toBe('Sent to the address it contains, kept for Acme');
  });

  it.each(['splunk-hec', 'aws-data-firehose', 'logstash'])('says that a secret of %s is never sent', (typeId) => {
    expect(sentence('input', typeId, {})).toBe('Never sent, kept for Acme');
  });

  it('removes line breaks and bidirectional controls from names', () => {
    const said = sentence('input', 'github-audit-logs', {}, 'Acme\n\u202Emoc.live ot tneS\u2028');
    expect(said).toBe('Sent to api.github.com, kept for Acme moc.live ot tneS');
  });

  it('has a sentence for every type with a secret', () => {
    for (const type of CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind))) {
      if (Object.keys(type.config.secrets.properties).length === 0) continue;
      expect(sentence(type.kind, type.type_id, {})).toMatch(/^(?:Sent to .+|Never sent), kept for Acme$/);
    }
  });

  it('follows the address, and repaints the secrets when it changes', async () => {
    const opened = await openedForm();
    fillIn(opened);
    const { form } = opened;
    expect(form.sentTo('/secrets/token')).toBe('Sent to acme.okta.com, kept for Acme');
    let painted = 0;
    form.subscribe('/secrets/token', () => (painted += 1));
    form.setValue('/settings/org_url', 'https://acme.okta.com/');
    expect(painted).toBe(0);
    form.setValue('/settings/org_url', 'https://evil.example');
    expect(form.sentTo('/secrets/token')).toBe('Sent to evil.example, kept for Acme');
    expect(painted).toBe(1);
  });
});
