/** The Markdown that the editor knows: what the reading view shows, parsed piece by piece as the text is written. */
import { defineLanguageFacet, Language, languageDataProp, LanguageSupport } from '@codemirror/language';
import { GFM, parser } from '@lezer/markdown';

const facet = defineLanguageFacet({});
export const markdown = new LanguageSupport(
  new Language(facet, parser.configure([GFM, { props: [languageDataProp.add({ Document: facet })] }]), [], 'markdown'),
);
