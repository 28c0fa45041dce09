import { describe, expect, test } from 'vitest';
import { runOnServer } from '../support/run-on-server.js';
import { vues } from '../support/vue.js';

const code = `
  import { createSSRApp, h } from 'vue';
  import { renderToString } from 'vue/server-renderer';
  import { ConnectorFrame, createConnectorFrames } from '@connector-frame/vue';
  const logged = [];
  console.error = console.warn = (...words) => logged.push(words.join(' '));
  const slots = {
    default: () => h('a', { href: '/connect' }, 'Connect by mail'),
    loading: () => 'One moment',
    error: () => h('p', 'That did not work'),
  };
  export const render = (props) =>
    renderToString(createSSRApp({ render: () => h(ConnectorFrame, props, slots) }).use(createConnectorFrames({ hostUrl: '/api' })));
  export { logged };`;

describe.each(vues)('Vue $vue on a server', ({ alias }) => {
  test('renders the tag with its slots and without properties', async () => {
    const { render, logged } = await runOnServer<{ render(props: object): Promise<string>; logged: string[] }>(
      code,
      alias,
    );
    const html = await render({
      kind: 'input',
      typeId: 'okta-systemlog',
      sessionToken: 's3cret-token',
      organizationId: 'org_1',
      appearance: { colorPrimary: '#123456' },
      isNameEditable: false,
      fetchSession: () => Promise.reject(new Error('never on a server')),
      onSave: () => {},
      id: 'connect',
      class: 'wide',
    });
    const bare = html.replaceAll(/<!--.*?-->/g, '');
    expect(bare).toMatch(/^<connector-frame [^>]*>.*<\/connector-frame>$/);
    expect(bare).toContain('<a href="/connect">Connect by mail</a>');
    expect(bare).toContain('<div slot="loading">One moment</div>');
    expect(bare).toContain('<div slot="error"><p>That did not work</p></div>');
    expect(bare).toContain('class="wide"');
    expect(bare).toContain('id="connect"');
    expect(bare).not.toMatch(/s3cret-token|object|appearance|editable|function|onsave|api/i);
    expect(logged).toEqual([]);
  });
});
