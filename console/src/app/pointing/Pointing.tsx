/** Pointing: a translator clicks a text of the console itself, and its message opens. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Code, Kbd } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Dialog } from '@/ui/Overlay';
import { hasDialog } from '@/ui/rows';
import { toast } from '@/ui/toast';
import { makeHeard, type Heard } from './heard';
import { keysAround, textAt } from './texts';

const DESK = '/settings/instance/translations/desk';
const SOURCE = 'en';
/** A press and its release too: menus open by one, fields get the focus by it. */
const PRESSES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'] as const;

export default function Pointing({ onClose }: { onClose: () => void }) {
  const { t, rich, locale, listen } = useLanguage();
  const navigate = useNavigate();
  const [heard] = useState(makeHeard);
  const [choice, setChoice] = useState<string[]>([]);
  // Before the bar is drawn: the first click finds everything heard.
  useLayoutEffect(() => {
    listen(heard);
    document.documentElement.dataset.points = '';
    return () => {
      listen({});
      delete document.documentElement.dataset.points;
    };
  }, [listen, heard]);
  const open = (key: string) => {
    onClose();
    void navigate({ to: DESK, search: { ...(locale !== SOURCE && { locale }), key } as never });
  };
  const show = (keys: string[]) => {
    if (keys.length === 1) open(keys[0]!);
    else if (keys.length) setChoice(keys);
    else toast(t('app.point_none'));
  };
  usePointer(choice.length === 0, heard, show);
  useKeys(choice.length === 0, heard, show, onClose);
  const kbd = (parts: React.ReactNode) => <Kbd key={String(parts)}>{parts}</Kbd>;
  return (
    <div
      data-pointing
      role="status"
      className="sticky top-13 z-20 flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-accent-soft px-4 py-2 text-sm text-link sm:px-6 md:top-0 lg:px-8"
    >
      <p className="min-w-0 flex-1 basis-60">{rich('app.point_lead', { kbd })}</p>
      <Button size="small" onClick={onClose}>{t('app.point_leave')}</Button>
      <Dialog open={choice.length > 0} onClose={() => setChoice([])} title={t('app.point_choose')}>
        <ul data-testid="pointed" className="grid gap-1">
          {choice.map((key) => (
            <li key={key}>
              <button type="button" className="w-full rounded-md px-2 py-1.5 text-start hover:bg-raised" onClick={() => open(key)}>
                <Code>{key}</Code>
              </button>
            </li>
          ))}
        </ul>
      </Dialog>
    </div>
  );
}

/** A click opens what is under it. With Alt it does what it always does; so do clicks that the keyboard makes. */
function usePointer(on: boolean, { keysOf }: Heard, show: (keys: string[]) => void): void {
  useEffect(() => {
    if (!on) return;
    const press = (event: MouseEvent) => {
      const target = event.target as Element;
      const byKeyboard = event.type === 'click' && event.detail === 0;
      if (event.button !== 0 || byKeyboard || target.closest('[data-pointing]')) return;
      if (event.altKey && event.type !== 'click') return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.type !== 'click') return;
      // Browsers do something else for a link with Alt: it is clicked once more, without.
      if (event.altKey) return void target.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
      const under = keysOf(textAt(target, event.clientX, event.clientY) ?? '');
      show(under.length ? under : keysAround(target, keysOf));
    };
    PRESSES.forEach((name) => addEventListener(name, press, true));
    return () => PRESSES.forEach((name) => removeEventListener(name, press, true));
  });
}

/** Alt and Enter opens what has the focus, or offers every text on the screen; Escape leaves. */
function useKeys(on: boolean, { keysOf }: Heard, show: (keys: string[]) => void, onLeave: () => void): void {
  useEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Enter' && event.altKey) show(keysAround(document.activeElement, keysOf));
      else if (event.key === 'Escape' && !hasDialog()) onLeave();
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    addEventListener('keydown', press, true);
    return () => removeEventListener('keydown', press, true);
  });
}
