import { describe, expect, test } from 'vitest';
import { reacts } from '../support/react.js';
import { runOnServer } from '../support/run-on-server.js';

const code = `
  import { createElement } from 'react';
  import { renderToString, renderToStaticMarkup } from 'react-dom/server';
  import { ConnectorFrame } from '@connector-frame/react';
  const logged = [];
  console.error = console.warn = (...words) => logged.push(words.join(' '));
  export const render = (props, ...children) => renderToString(createElement(ConnectorFrame, props, ...children));
  export const fallback = createElement('a', { href: '/connect' }, 'Connect by mail');
  export { logged };`;

interface Server {
  render(props: object, ...children: unknown[]): string;
  fallback: unknown;
  logged: string[];
}

describe.each(reacts)('React $react on a server', ({ alias }) => {
  test('renders the tag with its fallback and without properties', async () => {
    const { render, fallback, logged } = await runOnServer<Server>(code, alias);
    const html = render(
      {
        kind: 'input',
        typeId: 'okta-systemlog',
        sessionToken: 's3cret-token',
        organizationId: 'org_1',
        appearance: { colorPrimary: '#123456' },
        isNameEditable: false,
        fetchSession: () => Promise.reject(new Error('never on a server')),
        onSave: () => {},
        id: 'connect',
        className: 'wide',
        slot: 'main',
      },
      fallback,
    );
    expect(html).toMatch(/^<connector-frame [^>]*><a href="\/connect">Connect by mail<\/a><\/connector-frame>$/);
    expect(html).toContain('class="wide"');
    expect(html).toContain('id="connect"');
    expect(html).toContain('slot="main"');
    expect(html).not.toMatch(/s3cret-token|object|appearance|editable|function|onsave/i);
    expect(logged).toEqual([]);
  });
});
