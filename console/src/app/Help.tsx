import { Dialog } from '@/ui/Overlay';
import { Kbd } from '@/ui/bits';
import { useLanguage, type MessageKey } from '@/i18n/language';
import { MODIFIER } from './modifier';
import { useActiveShortcuts } from './shortcuts';

const FIXED: [string[], MessageKey][] = [
  [[MODIFIER, 'K'], 'app.key_palette'],
  [['?'], 'app.key_help'],
  [['J'], 'app.key_next_row'],
  [['K'], 'app.key_previous_row'],
  [['Enter'], 'app.key_open_row'],
  [['Esc'], 'app.key_escape'],
];

/** Every key that does something on this screen. */
export default function Help({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const active = useActiveShortcuts();
  const here = active.filter((one) => one.keys !== '?' && active.findLast(({ keys }) => keys === one.keys) === one);
  const rows: [string[], MessageKey][] = [
    ...FIXED,
    ...here.map((one): [string[], MessageKey] => [one.keys.toUpperCase().split(' '), one.label]),
  ];
  return (
    <Dialog open onClose={onClose} title={t('app.help_title')} description={t('app.help_description')} wide reading>
      <dl className="grid gap-x-10 gap-y-1 sm:grid-cols-2">
        {rows.map(([keys, label]) => (
          <div key={keys.join() + label} className="flex items-center justify-between gap-4 border-b border-line py-2">
            <dt>{t(label)}</dt>
            <dd className="flex shrink-0 gap-1">{keys.map((key) => <Kbd key={key}>{key}</Kbd>)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
