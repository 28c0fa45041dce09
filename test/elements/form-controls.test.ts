import { expect, nextFrame, waitUntil } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { at, everyKind, token, url } from '../../packages/form/gallery/fields.js';
import type { Field } from '../../packages/form/src/model/field.js';
import { renderField } from './form-field.js';

const fieldOf = (key: string): Field => {
  const field = everyKind.find(({ path }) => path.endsWith(`/${key}`));
  if (!field) throw new Error(`There is no field ${key}`);
  return field;
};

const labelOf = (control: Element): string | undefined =>
  document.querySelector(`label[for="${control.id}"]`)?.textContent.trim();

describe('a text field', () => {
  it('has a label and help, and stores what is typed', async () => {
    const { element, form, find, descriptionOf } = await renderField(url);
    const input = find('input');
    expect(labelOf(input)).to.equal('Organization URL');
    expect(descriptionOf(input)).to.contain('The address you sign in at');
    expect(input.getAttribute('aria-required')).to.equal('true');
    input.focus();
    await sendKeys({ type: 'https://acme.okta.com' });
    expect(form.value(url.path)).to.equal('https://acme.okta.com');
    await expect(element).to.be.accessible();
  });

  it('is described by its error and its help', async () => {
    const { element, find, descriptionOf } = await renderField(url, { errors: { [url.path]: 'Enter a URL' } });
    const input = find('input');
    expect(input.getAttribute('aria-invalid')).to.equal('true');
    expect(descriptionOf(input)).to.equal(`Enter a URL ${url.help}`);
    await expect(element).to.be.accessible();
  });

  it('is validated when it loses the focus', async () => {
    const { form, find } = await renderField(url);
    find('input').focus();
    find('input').blur();
    await waitUntil(() => form.calls.includes(`leave ${url.path}`));
  });

  it('is empty while its condition does not hold', async () => {
    const { element, form } = await renderField(url, { hidden: [url.path] });
    expect(element.querySelector('input')).to.equal(null);
    form.setShown(url.path, true);
    expect(element.querySelector('input')).not.to.equal(null);
  });
});

describe('a choice', () => {
  it('of few required options is a radio group for the arrow keys', async () => {
    const format = fieldOf('format');
    const { element, form, find } = await renderField(format, { values: { [format.path]: 'json' } });
    const group = find('[role="radiogroup"]');
    expect(document.getElementById(group.getAttribute('aria-labelledby') ?? '')?.textContent).to.contain('Format');
    find('[role="radio"][aria-checked="true"]').focus();
    await sendKeys({ press: 'ArrowRight' });
    expect(form.value(format.path)).to.equal('csv');
    expect(document.activeElement?.textContent.trim()).to.equal('CSV');
    await expect(element).to.be.accessible();
  });

  it('of more options is a select with a label', async () => {
    const region = fieldOf('region');
    const { element, form, find } = await renderField(region);
    const select = find('select');
    if (!(select instanceof HTMLSelectElement)) throw new Error('The choice is no select');
    expect(labelOf(select)).to.equal('Region');
    select.value = 'eu-west-1';
    select.dispatchEvent(new Event('input', { bubbles: true }));
    expect(form.value(region.path)).to.equal('eu-west-1');
    await expect(element).to.be.accessible();
  });

  it('of yes and no is a switch', async () => {
    const tls = fieldOf('tls');
    const { element, form, find, descriptionOf } = await renderField(tls);
    const control = find('[role="switch"]');
    expect(labelOf(control)).to.equal('Verify certificates');
    expect(descriptionOf(control)).to.contain('Turn off only');
    control.focus();
    await sendKeys({ press: ' ' });
    expect(form.value(tls.path)).to.equal(true);
    await expect(element).to.be.accessible();
  });
});

describe('a list', () => {
  const events = fieldOf('events');

  it('adds a row, focuses it and announces it', async () => {
    const { element, form, find, announced } = await renderField(events);
    find('.cf-add').click();
    await waitUntil(() => document.activeElement instanceof HTMLInputElement);
    await sendKeys({ type: 'user.session.start' });
    expect(form.value(`${events.path}/0`)).to.equal('user.session.start');
    expect(announced).to.deep.equal(['Added. Event type: 1']);
    await expect(element).to.be.accessible();
  });

  it('removes a row and moves the focus to its neighbor', async () => {
    const values = { [`${events.path}/0`]: 'one', [`${events.path}/1`]: 'two' };
    const { element, form, find, announced } = await renderField(events, { rows: { [events.path]: 2 }, values });
    find('.cf-remove').click();
    await nextFrame();
    expect(form.rows(events.path)).to.equal(1);
    expect(element.querySelector('input')).to.have.property('value', 'two');
    expect(document.activeElement?.className).to.equal('cf-remove');
    expect(announced).to.deep.equal(['Removed. Event type: 1 left']);
  });

  it('describes a row by its own error', async () => {
    const { element, find, descriptionOf } = await renderField(events, {
      rows: { [events.path]: 1 },
      errors: { [`${events.path}/0`]: 'Enter an event type' },
    });
    const input = find('input');
    expect(input.getAttribute('aria-label')).to.equal('Event type 1');
    expect(input.getAttribute('aria-invalid')).to.equal('true');
    expect(descriptionOf(input)).to.equal('Enter an event type');
    await expect(element).to.be.accessible();
  });
});

describe('a file field', () => {
  const certificate = fieldOf('certificate');
  const drop = (target: HTMLElement, content: string): void => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([content], 'ca.pem'));
    target.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  };

  it('takes the text of a dropped file, and says which file it was', async () => {
    const { element, form, find } = await renderField(certificate);
    expect(labelOf(find('textarea'))).to.equal('CA certificate');
    drop(find('.cf-drop'), '-----BEGIN CERTIFICATE-----');
    await waitUntil(() => form.value(certificate.path) === '-----BEGIN CERTIFICATE-----');
    await waitUntil(() => element.textContent.includes('Read from ca.pem'));
    await expect(element).to.be.accessible();
  });

  it('rejects a file that is too large', async () => {
    const { element, form, find } = await renderField(certificate);
    drop(find('.cf-drop'), 'x'.repeat(300_000));
    await waitUntil(() => element.textContent.includes('This file is too large'));
    expect(find('textarea').getAttribute('aria-invalid')).to.equal('true');
    expect(form.value(certificate.path)).to.equal(undefined);
  });
});

describe('a secret field', () => {
  it('has its name and description inside its shadow root', async () => {
    const { element, find } = await renderField(token);
    expect(labelOf(find('cf-secret'))).to.equal('API token');
    const control = find('cf-secret').shadowRoot?.querySelector('.control');
    expect(control?.getAttribute('aria-label')).to.equal('API token');
    expect(control?.getAttribute('aria-required')).to.equal('true');
    expect(control?.getAttribute('aria-invalid')).to.equal('false');
    await expect(element).to.be.accessible();
  });

  it('says where the value is sent', async () => {
    const { find } = await renderField(token);
    expect(find('cf-secret').shadowRoot?.textContent).to.contain('Sent to acme.okta.com, kept for Acme');
  });

  it('shows its error inside, where no style sheet of the page can measure it', async () => {
    const error = 'Enter the API token';
    const { element, find } = await renderField(token, { errors: { [token.path]: error } });
    const root = find('cf-secret').shadowRoot;
    expect(root?.querySelector('.control')?.getAttribute('aria-invalid')).to.equal('true');
    expect(root?.textContent).to.contain(error);
    expect(element.textContent).not.to.contain(error);
    await expect(element).to.be.accessible();
  });

  it('shows a stored secret without its value, and can replace it', async () => {
    const path = '/secrets/stored';
    const stored: Field = { ...at(path), kind: 'secret', shape: 'line', label: 'Signing key' };
    const kept = { id: 'sec_1', updatedAt: '2026-01-31T10:00:00Z' };
    const { element, find } = await renderField(stored, { secrets: { [path]: { state: 'kept', kept } } });
    expect(element.querySelector('cf-secret')).to.equal(null);
    await expect(element).to.be.accessible();
    find('button[aria-label*="Replace"], button').click();
    await waitUntil(() => element.querySelector('cf-secret') !== null);
  });
});
