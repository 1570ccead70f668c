import { useMay } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { KINDS, type Asked } from './queries';

interface Props {
  asked: Asked;
  onChange: (change: Asked) => void;
}

/** Narrow a search to a kind or a folder, or widen it to the company. */
export function Filters({ asked, onChange }: Props) {
  const { t } = useLanguage();
  const may = useMay();
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2">
      <div role="group" aria-label={t('search.kinds')} className="flex flex-wrap gap-1.5">
        {[undefined, ...KINDS].map((kind) => (
          <Choice
            key={kind ?? ''}
            chosen={asked.kind === kind}
            label={t(`search.kind_${kind ?? 'all'}`)}
            onChoose={() => onChange({ kind })}
          />
        ))}
      </div>
      {may('org:read') && (
        <div role="group" aria-label={t('search.scopes')} className="flex gap-1.5">
          {[undefined, 'org' as const].map((scope) => (
            <Choice
              key={scope ?? ''}
              chosen={asked.scope === scope}
              label={t(`search.scope_${scope ?? 'team'}`)}
              onChoose={() => onChange({ scope })}
            />
          ))}
        </div>
      )}
      {asked.prefix && (
        <Button size="small" onClick={() => onChange({ prefix: undefined })}>{t('search.leave_folder', { folder: asked.prefix })}</Button>
      )}
    </div>
  );
}

function Choice({ chosen, label, onChoose }: { chosen: boolean; label: string; onChoose: () => void }) {
  return <Button size="small" aria-pressed={chosen} kind={chosen ? 'default' : 'ghost'} onClick={onChoose}>{label}</Button>;
}
