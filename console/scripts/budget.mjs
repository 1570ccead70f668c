// The gate on bytes: what a browser downloads for each screen, gzipped, from the build's own manifest.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const manifest = JSON.parse(readFileSync(`${dist}/.vite/manifest.json`, 'utf8'));
const SHELL = ['index.html', 'src/app/pages.ts', 'src/app/Shell.tsx'];
const SCREENS = {
  'sign-in': [['index.html', 'src/features/sign-in/SignIn.tsx'], 125],
  'first run': [['index.html', 'src/features/sign-in/FirstRun.tsx'], 125],
  'shell + home': [[...SHELL, 'src/features/home/Home.tsx'], 175],
  'shell + members': [[...SHELL, 'src/features/members/MembersPage.tsx'], 180],
  'shell + files': [[...SHELL, 'src/features/repository/FilesPage.tsx'], 185],
  'shell + file': [[...SHELL, 'src/features/repository/FilePage.tsx'], 190],
  'shell + document, writing': [[...SHELL, 'src/features/documents/DocumentPage.tsx', 'src/ui/MarkdownEditor.tsx'], 296],
  'shell + S3 keys': [[...SHELL, 'src/features/s3/KeysPage.tsx'], 180],
  'shell + jobs': [[...SHELL, 'src/features/jobs/JobsPage.tsx'], 180],
  'shell + chat': [[...SHELL, 'src/features/chat/ChatLayout.tsx', 'src/features/chat/ChatPage.tsx', 'src/ui/Markdown.tsx'], 210],
  'shell + translate': [[...SHELL, 'src/features/translate/TranslatePage.tsx'], 180],
  'shell + desk': [[...SHELL, 'src/features/localization/screens.tsx', 'src/features/localization/DeskPage.tsx'], 190],
  'shell + review': [[...SHELL, 'src/features/localization/screens.tsx', 'src/features/localization/ReviewPage.tsx'], 190],
  'shell + executors': [[...SHELL, 'src/features/executors/ExecutorsPage.tsx'], 180],
  'shell + note, reading': [[...SHELL, 'src/features/notes/NotesLayout.tsx', 'src/features/notes/NotePage.tsx', 'src/ui/Markdown.tsx'], 210],
  'shell + note, writing': [[...SHELL, 'src/features/notes/NotesLayout.tsx', 'src/features/notes/NotePage.tsx', 'src/ui/MarkdownEditor.tsx'], 296],
};
const CSS_LIMIT = 15;
const BOOT_LIMIT = 1;

const packed = (file) => gzipSync(readFileSync(`${dist}/${file}`), { level: 9 }).length / 1024;

function chunksOf(entries) {
  const seen = new Set();
  const walk = (key) => {
    if (seen.has(key)) return;
    if (!manifest[key]) throw new Error(`${key} is not in the build`);
    seen.add(key);
    (manifest[key].imports ?? []).forEach(walk);
  };
  entries.forEach(walk);
  return [...seen].map((key) => manifest[key]);
}

let over = 0;
function judge(name, size, limit) {
  const bad = size > limit;
  over += Number(bad);
  console.log(`${bad ? 'OVER' : 'ok  '} ${name.padEnd(24)} ${size.toFixed(1).padStart(6)} kB of ${limit}`);
}

for (const [name, [entries, limit]] of Object.entries(SCREENS)) judge(name, chunksOf(entries).reduce((sum, chunk) => sum + packed(chunk.file), 0), limit);
judge('style', [...new Set(Object.values(manifest).flatMap((chunk) => chunk.css ?? []))].reduce((sum, file) => sum + packed(file), 0), CSS_LIMIT);
judge('boot script', packed(/src="\/(assets\/boot-[^"]+)"/.exec(readFileSync(`${dist}/index.html`, 'utf8'))[1]), BOOT_LIMIT);
process.exit(over ? 1 : 0);
