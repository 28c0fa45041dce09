import { findPhrases } from './words.mjs';

/** Reports phrases of `words.mjs` in comments, error messages and log lines. */
const plainWords = {
  meta: {
    type: 'suggestion',
    docs: { description: 'Require plain technical English in comments, error messages and log lines' },
    messages: { phrase: '"{{found}}": write {{instead}}.' },
  },
  create(context) {
    const check = (node, text) => {
      for (const { found, instead } of findPhrases(text)) {
        context.report({ loc: node.loc, messageId: 'phrase', data: { found, instead } });
      }
    };
    const checkStrings = (nodes) => {
      for (const node of nodes) {
        if (node.type === 'Literal' && typeof node.value === 'string') check(node, node.value);
        if (node.type === 'TemplateLiteral') for (const part of node.quasis) check(part, part.value.raw);
      }
    };
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) check(comment, comment.value);
      },
      NewExpression({ callee, arguments: given }) {
        if (callee.type === 'Identifier' && callee.name.endsWith('Error')) checkStrings(given);
      },
      CallExpression({ callee, arguments: given }) {
        if (callee.type === 'MemberExpression' && /^(trace|debug|info|warn|error|fatal)$/.test(callee.property.name)) {
          checkStrings(given);
        }
      },
    };
  },
};

export default { meta: { name: 'connector-frame' }, rules: { 'plain-words': plainWords } };
