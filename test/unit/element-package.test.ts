import { execFileSync } from 'node:child_process';
import { expect, expectTypeOf, test } from 'vitest';
import * as element from '@connector-frame/element';
import type { ConnectorErrorEvent, ConnectorFrameElement, ConnectorSaveEvent } from '@connector-frame/element';

test('the class can be imported without a document and has the documented exports', () => {
  expect('document' in globalThis).toBe(false);
  expect(Object.keys(element).sort()).toEqual([
    'ConnectorCancelEvent',
    'ConnectorErrorEvent',
    'ConnectorFrameElement',
    'ConnectorFrameError',
    'ConnectorReadyEvent',
    'ConnectorSaveEvent',
    'elementOptions',
    'initialOptions',
    'registerMessages',
  ]);
});

test('only ./define registers the element, also in plain Node, and can be imported twice', () => {
  const code = `
    import '@connector-frame/element';
    const before = customElements.get('connector-frame');
    const { ConnectorFrameElement } = await import('@connector-frame/element/define');
    await import(import.meta.resolve('@connector-frame/element/define') + '?again');
    console.log(before, customElements.get('connector-frame') === ConnectorFrameElement, typeof document);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(printed.trim()).toBe('undefined true undefined');
});

test('types include the tag and its events', () => {
  expectTypeOf<HTMLElementTagNameMap['connector-frame']>().toEqualTypeOf<ConnectorFrameElement>();
  const listen = (form: ConnectorFrameElement) => {
    form.addEventListener('save', (event) => expectTypeOf(event).toEqualTypeOf<ConnectorSaveEvent>());
    form.addEventListener('error', (event) => expectTypeOf(event).toEqualTypeOf<ConnectorErrorEvent>());
    form.addEventListener('click', (event) => expectTypeOf(event).toEqualTypeOf<PointerEvent>());
    form.addEventListener('save', function () {
      expectTypeOf(this).toEqualTypeOf<ConnectorFrameElement>();
    });
  };
  expectTypeOf(listen).toBeFunction();
});

test('an event has its payload as a field and as detail and does not bubble', () => {
  const save = new element.ConnectorSaveEvent({ id: 'con_1', name: 'Okta' });
  expect(save).toMatchObject({ type: 'save', connector: { id: 'con_1' }, bubbles: false, composed: false });
  expect(save.detail).toBe(save.connector);
  const error = new element.ConnectorErrorEvent(new element.ConnectorFrameError('offline', 'No network'));
  expect(error).toMatchObject({ type: 'error', message: 'No network', error: { code: 'offline' }, bubbles: false });
  expect(error.detail).toBe(error.error);
  expect(new element.ConnectorCancelEvent()).toMatchObject({ cancelable: true, bubbles: false });
  expect(new element.ConnectorReadyEvent()).toMatchObject({ cancelable: false, bubbles: false });
});
