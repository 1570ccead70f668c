/** What the page says, by language. */
const WORDS = {
  en: { label: 'Text', button: 'Count', result: (n) => `${n.words} words, ${n.characters} characters, ${n.lines} lines` },
  es: { label: 'Texto', button: 'Contar', result: (n) => `${n.words} palabras, ${n.characters} caracteres, ${n.lines} líneas` },
  nl: { label: 'Tekst', button: 'Tellen', result: (n) => `${n.words} woorden, ${n.characters} tekens, ${n.lines} regels` },
  is: { label: 'Texti', button: 'Telja', result: (n) => `${n.words} orð, ${n.characters} stafir, ${n.lines} línur` },
};

export const wordsIn = (locale) => WORDS[locale] ?? WORDS[locale.split('-')[0]] ?? WORDS.en;
