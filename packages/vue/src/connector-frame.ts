// Imported first: an object that is set before the element is defined becomes an attribute.
import '@connector-frame/element/define';
import type { ConnectorErrorEvent, ConnectorFrameElement, ConnectorSaveEvent } from '@connector-frame/element';
import { computed, defineComponent, h, inject, onMounted, shallowRef, toRaw, watch } from 'vue';
import type { ConnectorFrameComponent } from './connector-frame-component.js';
import { defaultsKey } from './defaults-key.js';
import { emits, props } from './runtime-props.js';

const definedEntries = (options: object) =>
  Object.entries<unknown>({ ...options }).filter(([, value]) => value !== undefined);

/**
 * The connector form. A template ref exposes `element`, `save()`, `test()`, `cancel()` and
 * `reload()`. A change of `kind`, `typeId`, `organizationId`, `existingId`, tenant or address
 * mounts another form; other props don't.
 */
export const ConnectorFrame: ConnectorFrameComponent = defineComponent({
  name: 'ConnectorFrame',
  props,
  emits,
  expose: ['element', 'save', 'test', 'cancel', 'reload'],

  setup(props) {
    const defaults = inject(defaultsKey, {});
    const element = shallowRef<ConnectorFrameElement | null>(null);

    // Set as properties after mounting: as attributes, Vue 3.4 would print them, the token included,
    // into the server's HTML.
    const properties = computed(() =>
      Object.fromEntries(
        [...definedEntries(defaults), ...definedEntries(props)].map(([name, value]) => [name, toRaw(value)]),
      ),
    );
    const setProperties = (old: object) => {
      const removed = Object.fromEntries(Object.keys(old).map((name) => [name, undefined]));
      if (element.value) Object.assign(element.value, { ...removed, ...properties.value });
    };
    onMounted(() => setProperties({}));
    watch(properties, (_, old) => setProperties(old), { flush: 'post' });

    return {
      element,
      save: () => element.value?.save(),
      test: () => element.value?.test(),
      cancel: () => element.value?.cancel(),
      reload: () => element.value?.reload(),
    };
  },

  render() {
    const slot = (name: 'loading' | 'error') => this.$slots[name] && h('div', { slot: name }, this.$slots[name]());
    return h(
      'connector-frame',
      {
        ref: 'element',
        onReady: () => this.$emit('ready'),
        onSave: ({ connector }: ConnectorSaveEvent) => this.$emit('save', connector),
        onCancel: () => this.$emit('cancel'),
        onError: ({ error }: ConnectorErrorEvent) => this.$emit('error', error),
      },
      [this.$slots.default?.(), slot('loading'), slot('error')],
    );
  },
});
