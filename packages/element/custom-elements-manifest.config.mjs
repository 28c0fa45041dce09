import { customElementJetBrainsPlugin } from 'custom-element-jet-brains-integration';
import { customElementVsCodePlugin } from 'custom-element-vs-code-integration';
import { readOptions } from '../../scripts/lib/option-table.mjs';

const outdir = 'dist';

/** Whether attributes of this type are plain text; others are JSON. */
const isPlain = (type) => /^(string|boolean|number|undefined|'[^']*'| \| )+$/.test(type);

const built = (path) => path?.replace(/^\/?src\/(.*)\.[jt]s$/, `${outdir}/$1.js`);

/**
 * Adds the properties and attributes of `<connector-frame>`, which its class derives from the option
 * table.
 */
function addOptions() {
  return {
    name: 'options',
    // Before the linking of attributes to properties.
    moduleLinkPhase({ moduleDoc }) {
      const element = moduleDoc.declarations?.find(({ name }) => name === 'ConnectorFrameElement');
      if (!element) return;
      const options = readOptions().elementOptions;
      element.members = options.map(toMember).concat(element.members ?? []);
      element.attributes = options.filter(({ attribute }) => attribute).map(toAttribute);
    },
  };
}

const describe = ({ description, default: byDefault }) => description + (byDefault ? ` Default: ${byDefault}.` : '');
// Flags always have a value.
const typeOf = ({ type, name }) => ({
  text: type === 'boolean' || name === 'preload' ? type : `${type} | undefined`,
});

const toMember = (option) => ({
  kind: 'field',
  name: option.name,
  type: typeOf(option),
  description: describe(option),
  ...(option.attribute && { attribute: option.attribute }),
});

const toAttribute = (option) => ({
  name: option.attribute,
  type: typeOf(option),
  description: describe(option),
  fieldName: option.name,
});

/** Replaces sources by built files, removes private members, and describes attributes with JSON. */
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
          // The analyzer also finds `dispatchEvent` calls, without a description.
          declaration.events = declaration.events?.filter(({ description }) => description);
          // A class of the browser, not of a module.
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
    addOptions(),
    tidy(),
    customElementVsCodePlugin({ outdir, hideLogs: true }),
    customElementJetBrainsPlugin({ outdir, packageJson: false, hideLogs: true }),
  ],
};
