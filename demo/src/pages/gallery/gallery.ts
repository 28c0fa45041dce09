/** Contact sheet: the form of every connector type, mounted only while it is near the viewport. */
import '@connector-frame/element/define';
import { createSearch } from '@connector-frame/element/catalog';
import type { CatalogType, ComponentKind } from '@connector-frame/core/connect';
import { catalog } from '../shared/host-api.js';
import { categoriesOf, countOf, kindOf } from '../shared/lists.js';
import { currentAppearance } from '../shared/theme.js';

interface Shown {
  kind: ComponentKind;
  type: CatalogType;
}

/** Maximum number of mounted forms. Each is a separate document. */
const AT_ONCE = 12;

const root = document.querySelector<HTMLElement>('#gallery');
if (root?.dataset['tenantId']) await start(root, root.dataset['tenantId']);

async function start(main: HTMLElement, tenantId: string): Promise<void> {
  const controls = main.querySelector('form');
  const sheets = main.querySelector('.sheets');
  const count = main.querySelector('.count');
  const { search, category, kind } = controlsOf(controls);
  const lists = {
    input: await catalog('input'),
    output: await catalog('output'),
    enrichment: await catalog('enrichment'),
  };
  const near = new Set<HTMLElement>();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!(target instanceof HTMLElement)) continue;
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
      showNear(near, tenantId);
    },
    { rootMargin: '400px' },
  );

  const show = (): void => {
    const chosen = kindOf(kind.value);
    const all = lists[chosen];
    const found = createSearch(all)(search.value).filter(
      (type) => category.value === '' || type.category === category.value,
    );
    watcher.disconnect();
    near.clear();
    const made = found.map((type) => sheetOf({ kind: chosen, type }));
    sheets?.replaceChildren(...made);
    for (const sheet of made) watcher.observe(sheet);
    if (count) count.textContent = `${countOf(found, all)} forms`;
  };
  const showKind = (): void => {
    const all = lists[kindOf(kind.value)];
    const options = categoriesOf(all).map((name) => new Option(name, name));
    category.replaceChildren(new Option('All categories', ''), ...options);
    show();
  };
  controls?.addEventListener('submit', (event) => event.preventDefault());
  search.addEventListener('input', show);
  category.addEventListener('change', show);
  kind.addEventListener('change', showKind);
  search.value = new URLSearchParams(location.search).get('q') ?? '';
  showKind();
}

function controlsOf(form: HTMLFormElement | null) {
  const [search, category, kind] = [form?.querySelector('input'), ...(form?.querySelectorAll('select') ?? [])];
  if (!search || !category || !kind) throw new Error('The page lacks its controls.');
  return { search, category, kind };
}

function sheetOf({ kind, type }: Shown): HTMLElement {
  const sheet = document.createElement('article');
  const title = document.createElement('h2');
  const id = document.createElement('code');
  const card = document.createElement('div');
  id.textContent = type.type_id;
  title.append(type.name, id);
  card.className = 'card';
  // Reserve the height of a typical form, so the page does not shift while forms load.
  card.style.minBlockSize = '480px';
  sheet.className = 'sheet';
  Object.assign(sheet.dataset, { kind, typeId: type.type_id });
  sheet.append(title, card);
  return sheet;
}

/**
 * Mounts the forms of the sheets that came near the viewport last, at most `AT_ONCE`, and removes
 * the others.
 */
function showNear(near: ReadonlySet<HTMLElement>, tenantId: string): void {
  const visible = [...near].slice(-AT_ONCE);
  for (const form of document.querySelectorAll('.sheet connector-frame')) {
    const sheet = form.closest<HTMLElement>('.sheet');
    if (!sheet || visible.includes(sheet)) continue;
    // Keep the form's height, so nothing below it moves.
    const card = form.parentElement;
    if (card) card.style.minBlockSize = `${card.offsetHeight}px`;
    form.remove();
  }
  for (const sheet of visible) {
    const card = sheet.querySelector<HTMLElement>('.card');
    const { kind, typeId } = sheet.dataset;
    if (!card || card.childElementCount > 0) continue;
    const form = document.createElement('connector-frame');
    Object.assign(form, { kind, typeId, tenantId, hostUrl: '/api', appearance: currentAppearance() });
    form.addEventListener('ready', () => card.style.removeProperty('min-block-size'));
    card.append(form);
  }
}
