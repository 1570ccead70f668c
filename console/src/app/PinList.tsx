/** What the person pinned, below the daily places. */
import { Link } from '@tanstack/react-router';
import { FileText, X } from 'lucide-react';
import { IconButton } from '@/ui/Overlay';
import { useLanguage } from '@/i18n/language';
import { usePins, type Pin } from './pins';
import { placeOf, SETTINGS } from './places';
import { useMay } from './session';

const isFile = ({ path }: Pin): boolean => /^\/(documents|files)\/./.test(path);

export function PinList() {
  const { t } = useLanguage();
  const may = useMay();
  const { pins, remove } = usePins();
  const shown = pins.filter((pin) => may(pin.permission));
  if (shown.length === 0) return null;
  return (
    <nav aria-label={t('app.pins')} className="pt-4">
      <h2 className="px-2 pb-1 text-xs font-medium text-muted">{t('app.pins')}</h2>
      <ul className="grid gap-0.5">
        {shown.map((pin) => <Entry key={`${pin.path} ${pin.at}`} pin={pin} onRemove={() => remove(pin)} />)}
      </ul>
    </nav>
  );
}

function Entry({ pin, onRemove }: { pin: Pin; onRemove: () => void }) {
  const { t } = useLanguage();
  const Icon = isFile(pin) ? FileText : (placeOf(pin.path) ?? SETTINGS).icon;
  const name = pin.label ? t(pin.label) : pin.title;
  return (
    <li className="group relative">
      <Link
        to={pin.path}
        search={(pin.at ? { at: pin.at } : {}) as never}
        className="flex h-8 items-center gap-2.5 rounded-md ps-2 pe-8 text-nav-text hover:bg-raised"
      >
        <Icon size={16} aria-hidden className="shrink-0" />
        <span data-raw={!pin.label || undefined} className="truncate">{name}</span>
      </Link>
      <IconButton
        label={t('app.unpin_name', { name })}
        onClick={onRemove}
        className="absolute end-0.5 top-0.5 size-7 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      >
        <X size={14} aria-hidden />
      </IconButton>
    </li>
  );
}
