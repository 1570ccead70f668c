// Answers of ten thousand tokens, in the shapes that are the hardest to draw while they grow.
export const SHAPES = {
  paragraphs: (at) => (at % 80 === 79 ? 'over.\n\n' : at % 9 === 0 ? '**ship** ' : 'word '),
  'one list': (at) => (at % 12 === 0 ? '\n- item ' : 'word '),
  'one table': (at) => (at === 0 ? '| a | b |\n| - | - |\n| ' : at % 12 === 0 ? '|\n| cell ' : at % 12 === 6 ? '| other ' : 'word '),
  'one block of code': (at) => (at === 0 ? '```js\n' : at % 10 === 0 ? ';\nlet a' : ' word'),
  'one paragraph': (at) => (at % 15 === 0 ? '`code` ' : at % 15 === 14 ? 'over. ' : 'word '),
};

export const said = (word, from, to) => Array.from({ length: to - from }, (_, more) => word(from + more));

/** More than the console asks for, so that the model may say all of it. */
export const askForAll = (page) =>
  page.route('**/api/ai/chat/stream', (route) => {
    const asked = route.request().postDataJSON();
    return route.continue({ postData: { ...asked, ...(asked.prompt ? { max_tokens: 20_000 } : {}) } });
  });
