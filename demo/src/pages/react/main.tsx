import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';

const root = document.querySelector<HTMLElement>('#root');
if (root?.dataset['tenantId'])
  createRoot(root).render(
    <StrictMode>
      <App tenantId={root.dataset['tenantId']} />
    </StrictMode>,
  );
