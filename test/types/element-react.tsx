import '@connector-frame/element/jsx-react';

/** Props that React 19's types must accept or reject. Compiled with the tests, never run. */
export const right = (
  <connector-frame
    kind="input"
    typeId="okta-systemlog"
    hostUrl="/api"
    tenantId="acme"
    isNameEditable={false}
    appearance={{ colorPrimary: '#4f46e5' }}
    preload="hover"
    onsave={({ connector }) => connector.id.toUpperCase()}
    onerror={({ error, detail }) => error === detail && error.code === 'offline'}
    oncancel={(event) => event.preventDefault()}
    ref={(element) => element?.reload()}
    className="form"
    key="form"
  >
    <p>Needs JavaScript.</p>
  </connector-frame>
);

export const wrong = [
  // @ts-expect-error -- no such kind
  <connector-frame key="1" kind="inputs" />,
  // @ts-expect-error -- not an object
  <connector-frame key="2" appearance="dark" />,
  // @ts-expect-error -- an event, not the connector
  <connector-frame key="3" onsave={({ id }) => id} />,
];
