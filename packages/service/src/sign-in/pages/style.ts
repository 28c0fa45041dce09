/** The style sheet of the pages. Its hash is in their policy. */
export const style = `
:root {
  color-scheme: light dark;
  --text: #1d1f27;
  --muted: #5c6070;
  --back: #eef0f4;
  --card: #fff;
  --line: #c9ccd6;
  --strong-line: #84899a;
  --primary: #4f46e5;
  --on-primary: #fff;
  --ring: #a5a1f3;
  --danger: #b3261e;
  --danger-back: #fdf0ef;
  --quiet: #f3f4f8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #eceef5;
    --muted: #a6abbb;
    --back: #101218;
    --card: #1a1d26;
    --line: #383d4b;
    --strong-line: #737a8e;
    --primary: #a5a1f7;
    --on-primary: #14121f;
    --ring: #5b55c9;
    --danger: #ffb4ab;
    --danger-back: #35211f;
    --quiet: #242834;
  }
}
* {
  box-sizing: border-box;
}
body {
  margin: 0;
  padding: 24px 16px;
  background: var(--back);
  color: var(--text);
  font: 14px/20px system-ui, sans-serif;
}
main {
  max-width: 400px;
  margin: 8vh auto 0;
  padding: 24px;
  border: 1px solid var(--line);
  border-radius: 12px;
  background: var(--card);
  overflow-wrap: break-word;
}
h1 {
  margin: 0 0 12px;
  font-size: 18px;
  line-height: 24px;
  font-weight: 600;
}
h2 {
  margin: 24px 0 4px;
  font-size: 14px;
  line-height: 20px;
  font-weight: 600;
}
p,
ol {
  margin: 0 0 16px;
}
ol {
  padding-inline-start: 20px;
}
li {
  margin-block-end: 8px;
}
label {
  display: block;
  margin-block-end: 4px;
  font-size: 13px;
  font-weight: 500;
}
input,
textarea {
  width: 100%;
  min-height: 44px;
  padding: 10px 12px;
  border: 1px solid var(--strong-line);
  border-radius: 8px;
  background: var(--card);
  color: inherit;
  font: inherit;
  font-size: 16px;
}
textarea {
  min-height: 120px;
  font: 12px/16px ui-monospace, monospace;
  overflow-wrap: anywhere;
  resize: vertical;
}
input[aria-invalid='true'] {
  border-color: var(--danger);
}
.field {
  margin-block-end: 20px;
}
.help,
.error {
  margin: 4px 0 0;
  font-size: 13px;
  line-height: 18px;
}
.help,
.muted {
  color: var(--muted);
}
main > .help {
  margin-block-end: 16px;
}
.error {
  color: var(--danger);
}
.note {
  margin: 0 0 16px;
  padding: 12px;
  border-radius: 8px;
  background: var(--danger-back);
  color: var(--danger);
}
button,
.button {
  display: block;
  width: 100%;
  min-height: 44px;
  margin-block-end: 8px;
  padding: 10px 16px;
  border: 1px solid var(--primary);
  border-radius: 8px;
  background: var(--primary);
  color: var(--on-primary);
  font: inherit;
  font-weight: 500;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
button.second {
  border-color: var(--strong-line);
  background: none;
  color: inherit;
}
a {
  color: var(--primary);
}
a.alone {
  display: inline-block;
  padding-block: 12px;
}
:focus-visible {
  outline: 3px solid var(--ring);
  outline-offset: 1px;
}
code {
  font: 14px/20px ui-monospace, monospace;
  overflow-wrap: anywhere;
}
.codes {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(120px, 1fr));
  gap: 4px 12px;
  margin: 0 0 16px;
  padding: 12px;
  border-radius: 8px;
  background: var(--quiet);
  list-style: none;
}
.codes li {
  margin: 0;
}
/* Scanners need dark modules on light ground. */
.qr {
  display: block;
  width: 200px;
  height: 200px;
  margin: 0 auto 16px;
  border-radius: 8px;
  background: #fff;
  color: #000;
}
@media (max-width: 360px) {
  body {
    padding: 0;
  }
  main {
    margin: 0;
    padding: 20px 16px;
    border: 0;
    border-radius: 0;
    min-height: 100vh;
  }
}
@media (forced-colors: active) {
  .qr {
    forced-color-adjust: none;
  }
}
`;
