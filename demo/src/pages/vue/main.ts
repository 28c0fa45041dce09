import { createApp } from 'vue';
import App from './App.vue';

const root = document.querySelector<HTMLElement>('#root');
if (root?.dataset['tenantId'])
  createApp(App, {
    tenantId: root.dataset['tenantId'],
  }).mount(root);
