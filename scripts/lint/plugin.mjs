import { findPhrases } from './words.mjs';

const LOG_METHOD = /^(trace|debug|info|warn|error|fatal)$/;
/** Properties whose text users or operators read, such as `{ code: 'forbidden', message: '...' }`. */
const TEXT_PROPERTY = /^(message|hint|description|summary)$/;
const TEST_FUNCTION = /^(describe|test|it)$/;

/** Reports phrases of `words.mjs` in comments, error messages, log lines and test titles. */
const plainWords = {
  meta: {
    type: 'suggestion',
    docs: { description: 'Require plain technical English in comments, error messages, log lines and test titles' },
    messages: { phrase: '"{{found}}": write {{instead}}.' },
    schema: [{ type: 'object', properties: { testTitles: { type: 'boolean' } }, additionalProperties: false }],
  },
  create(context) {
    const { testTitles = true } = context.options[0] ?? {};
    const reported = new Set();
    const check = (node, text) => {
      // A string may be reached twice: as part of a `throw` and of the error it constructs.
      if (reported.has(node)) return;
      reported.add(node);
      for (const { found, instead } of findPhrases(text)) {
        context.report({ loc: node.loc, messageId: 'phrase', data: { found, instead } });
      }
    };
    /** Checks the strings of an expression, but not of functions and calls within it. */
    const checkStrings = (node) => {
      switch (node?.type) {
        case 'Literal':
          if (typeof node.value === 'string') check(node, node.value);
          break;
        case 'TemplateLiteral':
          for (const part of node.quasis) check(part, part.value.raw);
          break;
        case 'BinaryExpression':
        case 'LogicalExpression':
          [node.left, node.right].forEach(checkStrings);
          break;
        case 'ConditionalExpression':
          [node.consequent, node.alternate].forEach(checkStrings);
          break;
        case 'ObjectExpression':
          for (const property of node.properties) if (property.type === 'Property') checkStrings(property.value);
          break;
        case 'CallExpression':
        case 'NewExpression':
          // Only directly in a `throw`: `throw notFound('...')`.
          if (node.parent?.type === 'ThrowStatement') node.arguments.forEach(checkStrings);
      }
    };
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) check(comment, comment.value);
      },
      ThrowStatement({ argument }) {
        checkStrings(argument);
      },
      NewExpression({ callee, arguments: given }) {
        const name = callee.type === 'MemberExpression' ? callee.property.name : callee.name;
        if (name?.endsWith('Error')) given.forEach(checkStrings);
      },
      Property({ key, value }) {
        if (TEXT_PROPERTY.test(key.name ?? key.value)) checkStrings(value);
      },
      CallExpression({ callee, arguments: given }) {
        if (callee.type === 'Super') given.forEach(checkStrings);
        if (callee.type === 'MemberExpression' && LOG_METHOD.test(callee.property.name)) given.forEach(checkStrings);
        if (testTitles && isTest(callee)) checkStrings(given[0]);
      },
    };
  },
};

/** Whether a call defines a test or a suite: `test(...)`, `test.skip(...)`, `test.each(...)(...)`. */
function isTest(callee) {
  if (callee.type === 'Identifier') return TEST_FUNCTION.test(callee.name);
  if (callee.type === 'MemberExpression') return callee.property.name !== 'each' && isTest(callee.object);
  return callee.type === 'CallExpression' && callee.callee.type === 'MemberExpression' && isTest(callee.callee.object);
}

export default { meta: { name: 'connector-frame' }, rules: { 'plain-words': plainWords } };
