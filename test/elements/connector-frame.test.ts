import { aTimeout, expect, fixture, html, waitUntil } from '@open-wc/testing';
import type { ConnectorFrameElement } from '@connector-frame/element';
import '@connector-frame/element/define';
import { FAKE_FRAME, frameOf, partOf, readyFrame, SILENT_FRAME } from './frame-pages.js';
import { nextEvent } from './next-event.js';

const API = 'http://127.0.0.1:4000';

const completeFrame = (frameOrigin = FAKE_FRAME) =>
  html`<connector-frame
    frame-origin=${frameOrigin}
    api-base=${API}
    kind="input"
    type-id="okta-systemlog"
    session-token="token-1"
    organization-id="org_1"
  ></connector-frame>`;

const complete = (frameOrigin?: string) => fixture<ConnectorFrameElement>(completeFrame(frameOrigin));

describe('<connector-frame> attributes', () => {
  it('are properties in camel case', async () => {
    const element = await fixture<ConnectorFrameElement>(
      html`<connector-frame
        frame-origin=${FAKE_FRAME}
        api-base=${API}
        kind="output"
        type-id="splunk"
        existing-id="con_1"
        tenant-id="acme"
        host-url="/api"
        display-name="Splunk"
        is-name-editable
        load-timeout="2000"
        appearance='{"colorPrimary":"#123456"}'
        preload
      ></connector-frame>`,
    );
    expect(element).to.include({ kind: 'output', typeId: 'splunk', existingId: 'con_1', tenantId: 'acme' });
    expect(element).to.include({ hostUrl: '/api', displayName: 'Splunk', frameOrigin: FAKE_FRAME, apiBase: API });
    expect(element).to.include({ isNameEditable: true, synthetic: false, loadTimeout: 2000, preload: 'idle' });
    expect(element.appearance).to.deep.equal({ colorPrimary: '#123456' });
  });

  it('never contain a token that was set as a property', async () => {
    const element = await fixture<ConnectorFrameElement>(html`<connector-frame></connector-frame>`);
    element.sessionToken = 'token-of-a-property';
    await element.updateComplete;
    expect(document.documentElement.outerHTML).not.to.contain('token-of-a-property');
  });

  it('can change one after another before there is a form', async () => {
    const element = await fixture<ConnectorFrameElement>(
      html`<connector-frame frame-origin=${FAKE_FRAME} api-base=${API}>Choose a type</connector-frame>`,
    );
    expect(element.shadowRoot?.querySelector('slot')?.assignedNodes()[0]?.textContent).to.equal('Choose a type');
    expect(element.shadowRoot?.querySelector('iframe')).to.equal(null);
    Object.assign(element, { kind: 'input', typeId: 'okta-systemlog' });
    element.setAttribute('session-token', 'token-1');
    element.setAttribute('organization-id', 'org_1');
    await readyFrame(element);
  });
});

describe('<connector-frame> while it loads', () => {
  it('shows a skeleton with a status, and hides the frame', async () => {
    const element = await complete(SILENT_FRAME);
    expect(element.matches(':state(loading)')).to.equal(true);
    expect(partOf(element, 'loading')?.getAttribute('role')).to.equal('status');
    expect(partOf(element, 'frame')?.inert).to.equal(true);
    await expect(element).to.be.accessible();
  });

  it('shows the page\u2019s own content in the slot', async () => {
    const element = await complete(SILENT_FRAME);
    element.innerHTML = '<p slot="loading">Almost there</p>';
    const slot = element.shadowRoot?.querySelector<HTMLSlotElement>('slot[name="loading"]');
    expect(slot?.assignedElements()[0]?.textContent).to.equal('Almost there');
  });
});

describe('<connector-frame> with a form', () => {
  it('sends the settings to the form, and fires ready', async () => {
    const element = await complete();
    const form = await readyFrame(element);
    expect(partOf(element, 'loading')).to.equal(null);
    expect(partOf(element, 'frame')?.inert).to.equal(false);
    const [init] = await form.received();
    expect(init).to.include({ type: 'init', typeId: 'okta-systemlog', sessionToken: 'token-1' });
    await expect(element).to.be.accessible();
  });

  it('fires save with the connector', async () => {
    const element = await complete();
    const form = await readyFrame(element);
    const saved = nextEvent(element, 'save');
    form.save({ id: 'con_7', name: 'Okta' });
    const { connector, bubbles } = await saved;
    expect(connector).to.deep.equal({ id: 'con_7', name: 'Okta' });
    expect(bubbles).to.equal(false);
    expect(element.matches(':state(saved)')).to.equal(true);
  });

  it('fires cancel, and closes the dialog around it', async () => {
    const dialog = await fixture<HTMLDialogElement>(html`<dialog aria-label="Connect">${completeFrame()}</dialog>`);
    dialog.showModal();
    const element = dialog.querySelector('connector-frame');
    if (!element) throw new Error('The dialog is empty');
    const form = await readyFrame(element);
    element.addEventListener('cancel', (event) => event.preventDefault(), { once: true });
    const prevented = nextEvent(element, 'cancel');
    form.cancel();
    await prevented;
    await aTimeout(0);
    expect(dialog.open).to.equal(true);
    form.cancel();
    await waitUntil(() => !dialog.open);
  });

  it('passes commands of its methods to the form', async () => {
    const element = await complete();
    const form = await readyFrame(element);
    element.save();
    element.test();
    await waitUntil(async () => (await form.commands()).length === 2);
    expect(await form.commands()).to.deep.equal(['save', 'test']);
  });

  it('gives a fresh token to the form that is shown', async () => {
    const element = await complete();
    const form = await readyFrame(element);
    const frame = frameOf(element);
    element.sessionToken = 'token-2';
    await waitUntil(async () => (await form.received()).length === 2);
    expect((await form.received())[1]).to.include({ type: 'session', sessionToken: 'token-2' });
    expect(frameOf(element)).to.equal(frame);
  });

  it('mounts another form for another type', async () => {
    const element = await complete();
    await readyFrame(element);
    element.typeId = 'github-audit-logs';
    await nextEvent(element, 'ready');
    const [init] = await (await readyFrame(element)).received();
    expect(init).to.include({ typeId: 'github-audit-logs' });
  });
});

describe('<connector-frame> without a form', () => {
  it('says why and fires error if the form does not answer; a button tries again', async () => {
    const element = await complete(SILENT_FRAME);
    element.loadTimeout = 200;
    element.reload();
    const { error } = await nextEvent(element, 'error');
    expect(error.code).to.equal('frame_timeout');
    expect(element.matches(':state(error)')).to.equal(true);
    const view = partOf(element, 'error');
    expect(view?.getAttribute('role')).to.equal('alert');
    expect(view?.textContent).to.contain(error.message);
    await expect(element).to.be.accessible();

    element.frameOrigin = FAKE_FRAME;
    partOf(element, 'retry')?.click();
    await readyFrame(element);
    expect(partOf(element, 'error')).to.equal(null);
  });

  it('names the option that it rejects', async () => {
    const rejected = complete('ftp://embed.example.com');
    const element = await rejected;
    await waitUntil(() => element.matches(':state(error)'));
    expect(partOf(element, 'error')?.textContent).to.contain('frameOrigin');
  });

  it('reports what failed inside the form without replacing it', async () => {
    const element = await complete();
    const form = await readyFrame(element);
    const failed = nextEvent(element, 'error');
    form.fail('save_failed', 'The service is down');
    const { error } = await failed;
    expect(error).to.include({ code: 'save_failed', message: 'The service is down' });
    expect(partOf(element, 'error')).to.equal(null);
  });
});
