import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const SPOKEN = new Set(['aria-label', 'aria-description', 'placeholder', 'title', 'alt', 'label', 'hint', 'problem', 'body']);
const hasWords = (text) => /\p{L}{2,}/u.test(text);

/** Text on screen comes from the catalogs; names of keys and languages are marked as raw where they stand. */
const noLiteralText = {
  meta: { type: 'problem', schema: [] },
  create: (context) => ({
    JSXText(node) {
      const inKey = node.parent?.openingElement?.name?.name === 'Kbd';
      if (hasWords(node.value) && !inKey) context.report({ node, message: 'Text on screen comes from the catalogs: use t().' });
    },
    JSXAttribute(node) {
      if (SPOKEN.has(node.name.name) && node.value?.type === 'Literal' && hasWords(String(node.value.value))) context.report({ node, message: 'Spoken text comes from the catalogs: use t().' });
    },
  }),
};

/** The lines that may be longer: one class name, one string. */
const LONE_STRING = /^\s*((<\w+ )?className=("[^"]*"|\{`[^`]*`\})>?|(['"`]).*\4,?)$/;

const only = (files, patterns) => ({ files, rules: { 'no-restricted-imports': ['error', { patterns }] } });

export default tseslint.config(
  { ignores: ['dist', 'src/api/generated.ts', 'node_modules'] },
  ...tseslint.configs.recommended,
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { hooks, atrium: { rules: { 'no-literal-text': noLiteralText } } },
    rules: {
      'hooks/rules-of-hooks': 'error',
      'hooks/exhaustive-deps': 'error',
      'atrium/no-literal-text': 'error',
      'no-restricted-syntax': ['error', { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'No HTML strings.' }],
      '@typescript-eslint/no-explicit-any': 'error',
      'max-len': ['error', { code: 140, ignorePattern: LONE_STRING.source }],
    },
  },
  // Which folder may import which is checked by scripts/imports.mjs; here only what is named the same on every floor.
  only(['src/features/**'], [{ group: ['@/app/Shell', '@/app/router', '@/app/features', '@/app/navigation'], message: 'Features never import the frame.' }]),
  { files: ['e2e/**', 'scripts/**', '*.config.*'], languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', Buffer: 'readonly', fetch: 'readonly', document: 'readonly', window: 'readonly', localStorage: 'readonly' } } },
  { files: ['src/boot.js', 'public/sw.js'], rules: { '@typescript-eslint/no-unused-vars': 'off', 'no-undef': 'off' } },
);
