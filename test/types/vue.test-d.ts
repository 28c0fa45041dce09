/** Compiled, never run: correct use of the Vue adapter compiles, incorrect use does not. */
import { createApp, h, type GlobalComponents } from 'vue';
import { ConnectorFrame, createConnectorFrames, type ConnectorFrameElement } from '@connector-frame/vue';

type Instance = InstanceType<typeof ConnectorFrame>;
type Props = Instance['$props'];

const form = { kind: 'input', typeId: 'okta-systemlog' } as const;
const fetchSession = async () => ({ sessionToken: 'token', organizationId: 'org_1' });

/** The props that a template checks, including listeners. */
export const right: Props[] = [
  { ...form, hostUrl: '/api', tenantId: 'acme' },
  { ...form, fetchSession, isNameEditable: true, loadTimeout: 5000, preload: 'hover', stylesheets: ['/form.css'] },
  {
    ...form,
    sessionToken: 'token',
    organizationId: 'org_1',
    class: 'wide',
    onReady: () => {},
    onSave: ({ id, name }) => [id satisfies string, name satisfies string | undefined],
    onCancel: () => {},
    onError: ({ code, message }) => [code satisfies string, message satisfies string],
  },
];

export const rendered = [
  h(ConnectorFrame, { ...form, hostUrl: '/api', tenantId: 'acme', onSave: (connector) => connector.id }),
  h(ConnectorFrame, form, { default: () => 'Connect by mail', loading: () => 'One moment', error: () => 'Oh no' }),
];

createApp(ConnectorFrame, form);
createApp({})
  .use(createConnectorFrames())
  .use(createConnectorFrames({ hostUrl: '/api', tenantId: 'acme', appearance: { colorPrimary: '#123456' } }))
  .component('OtherName', ConnectorFrame);

export const registered: GlobalComponents['ConnectorFrame'] = ConnectorFrame;

export function use(instance: Instance): ConnectorFrameElement | null {
  instance.save();
  instance.test();
  instance.cancel();
  instance.reload();
  instance.$emit('save', { id: 'con_1' });
  // @ts-expect-error: there is no such event
  instance.$emit('saved', { id: 'con_1' });
  // @ts-expect-error: there is no such method
  instance.destroy();
  return instance.element;
}

export const wrong: Props[] = [
  // @ts-expect-error: a type, but of which catalog?
  { typeId: 'okta-systemlog' },
  // @ts-expect-error: there is no such catalog
  { ...form, kind: 'inputs' },
  // @ts-expect-error: a flag is no text
  { ...form, isNameEditable: 'true' },
  // @ts-expect-error: the payload, not the event
  { ...form, onSave: (event: Event) => event },
  // @ts-expect-error: a session has a token
  { ...form, fetchSession: async () => ({ organizationId: 'org_1' }) },
  // @ts-expect-error: it finds its own place
  { ...form, container: '#form' },
];

// @ts-expect-error: there is no such default
createConnectorFrames({ hostURL: '/api' });
