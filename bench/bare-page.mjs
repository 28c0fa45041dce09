/**
 * Baseline for the form: a page that takes only the same path. Its script (Lit and one template)
 * loads, posts `ready`, receives a token, fetches the same type from the same service, and renders
 * a label, a control and a help text for each field.
 */
import { html, render } from 'lit';

const parentOrigin = new URL(location.href).searchParams.get('parentOrigin');

const control = (id, schema) => {
  if (schema.type === 'boolean') return html`<input id=${id} type="checkbox" .checked=${schema.default === true} />`;
  if (schema.enum)
    return html`<select id=${id}>
      ${schema.enum.map((value) => html`<option>${value}</option>`)}
    </select>`;
  const type = schema.writeOnly ? 'password' : schema.type === 'integer' ? 'number' : 'text';
  return html`<input
    id=${id}
    type=${type}
    .value=${String(schema.default ?? '')}
    placeholder=${schema.examples?.[0] ?? ''}
  />`;
};

addEventListener('message', async ({ source, origin, data }) => {
  if (source !== parent || origin !== parentOrigin) return;
  const response = await fetch(`/v1/inputs/${data.typeId}`, {
    headers: { authorization: `Bearer ${data.sessionToken}` },
  });
  const { name, description, config } = await response.json();
  const fields = Object.entries({ ...config.settings.properties, ...config.secrets.properties });
  render(
    html`<form>
      <h1>${name}</h1>
      <p>${description}</p>
      ${fields.map(
        ([id, schema]) =>
          html`<div>
            <label for=${id}>${schema.title}</label>
            ${control(id, schema)}
            <p>${schema.description}</p>
          </div>`,
      )}
      <button>Save</button>
    </form>`,
    document.body,
  );
});
parent.postMessage({ type: 'ready' }, parentOrigin);
