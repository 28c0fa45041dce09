// First of all: an object given before the element is defined would become an attribute.
import '@connector-frame/element/define';
import type { ConnectorErrorEvent, ConnectorFrameElement, ConnectorSaveEvent } from '@connector-frame/element';
import { computed, defineComponent, h, inject, onMounted, shallowRef, toRaw, watch } from 'vue';
import type { ConnectorFrameComponent } from './connector-frame-component.js';
import { defaultsKey } from './defaults-key.js';
import { emits, props } from './options.js';

const present = (options: object) => Object.entries<unknown>({ ...options }).filter(([, value]) => value !== undefined);

/**
 * The connector form. A template ref on it has `element`, `save()`, `test()`, `cancel()` and `reload()`.
 * Another `kind`, `typeId`, `organizationId`, `existingId`, tenant or address shows another form; no other prop does.
 */
export const ConnectorFrame: ConnectorFrameComponent = defineComponent({
  name: 'ConnectorFrame',
  props,
  emits,
  expose: ['element', 'save', 'test', 'cancel', 'reload'],

  setup(props) {
    const defaults = inject(defaultsKey, {});
    const element = shallowRef<ConnectorFrameElement | null>(null);

    // As properties and never as attributes: Vue 3.4 would print them, the token included, into the server's page.
    const given = computed(() =>
      Object.fromEntries([...present(defaults), ...present(props)].map(([name, value]) => [name, toRaw(value)])),
    );
    const give = (before: object) => {
      const gone = Object.fromEntries(Object.keys(before).map((name) => [name, undefined]));
      if (element.value) Object.assign(element.value, { ...gone, ...given.value });
    };
    onMounted(() => give({}));
    watch(given, (_, before) => give(before), { flush: 'post' });

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
