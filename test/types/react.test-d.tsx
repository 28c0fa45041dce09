/** Compiled, never run: correct use of the React adapter compiles, incorrect use does not. */
import { createRef } from 'react';
import {
  ConnectorFrame,
  type ConnectorFrameElement,
  type ConnectorFrameError,
  type ConnectorFrameProps,
  type SavedConnector,
} from '@connector-frame/react';

const form = { kind: 'input', typeId: 'okta-systemlog' } as const;
const ref = createRef<ConnectorFrameElement>();
const fetchSession = async () => ({ sessionToken: 'token', organizationId: 'org_1' });

export const right = [
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" />,
  <ConnectorFrame {...form} sessionToken="token" organizationId="org_1" />,
  <ConnectorFrame {...form} sessionToken="token" organizationId="org_1" fetchSession={fetchSession} />,
  <ConnectorFrame {...form} fetchSession={fetchSession} existingId={undefined} isNameEditable={undefined} />,
  <ConnectorFrame
    {...form}
    hostUrl="/api"
    tenantId="acme"
    ref={ref}
    className="wide"
    style={{ maxWidth: 640 }}
    id="connect"
    slot="main"
    data-testid="form"
    aria-label="Connect Okta"
    appearance={{ colorPrimary: '#123456' }}
    stylesheets={['/form.css']}
    configMetaOverrides={{ settings: { org_url: { name: 'Your Okta' } } }}
    preload="hover"
    onReady={() => {}}
    onSave={({ id, name }) => [id satisfies string, name satisfies string | undefined]}
    onCancel={() => {}}
    onError={({ code, message }) => [code satisfies string, message satisfies string]}
  >
    <p slot="loading">One moment</p>
    <a href="/connect">Connect by mail</a>
  </ConnectorFrame>,
];

export const callbacks: Pick<ConnectorFrameProps, 'onSave' | 'onError'> = {
  onSave: (connector: SavedConnector) => connector.id,
  onError: (error: ConnectorFrameError) => error.code,
};

ref.current?.save();
ref.current?.test();
ref.current?.cancel();
ref.current?.reload();
ref.current?.addEventListener('save', (event) => event.connector.id satisfies string);

export const wrong = [
  // @ts-expect-error: no session, and nobody to ask for one
  <ConnectorFrame {...form} />,
  // @ts-expect-error: a host, but whose connector?
  <ConnectorFrame {...form} hostUrl="/api" />,
  // @ts-expect-error: a token, but of which organization?
  <ConnectorFrame {...form} sessionToken="token" />,
  // @ts-expect-error: a type, but of which catalog?
  <ConnectorFrame typeId="okta-systemlog" hostUrl="/api" tenantId="acme" />,
  // @ts-expect-error: there is no such catalog
  <ConnectorFrame {...form} kind="inputs" hostUrl="/api" tenantId="acme" />,
  // @ts-expect-error: there is no such prop
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" type-id="okta-systemlog" onSaved={() => {}} />,
  // @ts-expect-error: a flag is no text
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" isNameEditable="true" />,
  // @ts-expect-error: the payload, not the event
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" onSave={(event: Event) => event} />,
  // @ts-expect-error: nothing is given to it
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" onCancel={(given: string) => given} />,
  // @ts-expect-error: it finds its own place
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" container="#form" />,
  // @ts-expect-error: a session has a token
  <ConnectorFrame {...form} fetchSession={async () => ({ organizationId: 'org_1' })} />,
  // @ts-expect-error: the ref is the element
  <ConnectorFrame {...form} hostUrl="/api" tenantId="acme" ref={createRef<HTMLDivElement>()} />,
];
