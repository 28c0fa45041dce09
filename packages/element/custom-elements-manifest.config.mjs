import { customElementJetBrainsPlugin } from 'custom-element-jet-brains-integration';
import { customElementVsCodePlugin } from 'custom-element-vs-code-integration';

const outdir = 'dist';

/** Whether an attribute of this type can be offered or written as it is; any other is JSON. */
const isPlain = (type) => /^(string|boolean|number|undefined|'[^']*'| \| )+$/.test(type);

const built = (path) => path?.replace(/^\/?src\/(.*)\.[jt]s$/, `${outdir}/$1.js`);

/** Says what readers need: built files in place of sources, nothing private, JSON attributes as the texts they are. */
function tidy() {
  return {
    name: 'tidy',
    packageLinkPhase({ customElementsManifest }) {
      for (const module of customElementsManifest.modules) {
        module.path = built(module.path);
        for (const { declaration } of module.exports ?? []) declaration.module = built(declaration.module);
        for (const declaration of module.declarations ?? []) {
          declaration.members = declaration.members?.filter(
            ({ privacy, name, static: ofClass }) => privacy !== 'private' && !ofClass && !name.endsWith('Callback'),
          );
          // Found again where it is dispatched, without a name.
          declaration.events = declaration.events?.filter(({ description }) => description);
          // The browser's own, which the analyzer looks for in our files.
          if (declaration.superclass?.name === 'Event') delete declaration.superclass.module;
          for (const attribute of declaration.attributes ?? []) {
            attribute.type.text = attribute.type.text.replace(' | undefined', '');
            if (isPlain(attribute.type.text)) continue;
            attribute.description += ` JSON of \`${attribute.type.text}\`.`;
            attribute.type.text = 'string';
          }
        }
      }
    },
  };
}

export default {
  globs: [
    'src/connector-frame-element.ts',
    'src/catalog/connector-catalog-element.ts',
    'src/define*.ts',
    'src/events/*-event.ts',
  ],
  outdir,
  litelement: true,
  packagejson: false,
  plugins: [
    tidy(),
    customElementVsCodePlugin({ outdir, hideLogs: true }),
    customElementJetBrainsPlugin({ outdir, packageJson: false, hideLogs: true }),
  ],
};
