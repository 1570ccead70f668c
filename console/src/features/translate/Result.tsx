/** The translation, and in plain words what became of the text. */
import { Info, TriangleAlert } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { Badge, Card, Raw } from '@/ui/bits';
import { CopyButton } from '@/ui/Secret';
import { languageName } from './languages';
import type { Translation } from './queries';

export function Result({ result, busy }: { result: Translation | null; busy: boolean }) {
  const { t } = useLanguage();
  const id = useId();
  return (
    <Card className="p-4">
      <div className="mb-2 flex h-8 items-center gap-2">
        <label htmlFor={id} className="flex-1 font-medium">{t('translate.result')}</label>
        {result && <CopyButton text={result.text} />}
      </div>
      <textarea
        id={id}
        rows={12}
        readOnly
        data-raw
        data-testid="result"
        lang={result?.target}
        dir="auto"
        value={result?.text ?? ''}
        aria-busy={busy}
        className="field h-auto resize-y py-2"
      />
      <div role="status" className="mt-3 text-sm">
        {busy && <p className="text-muted">{t('translate.working')}</p>}
        {!busy && result && <Report result={result} />}
      </div>
    </Card>
  );
}

function Report({ result }: { result: Translation }) {
  const { t, number } = useLanguage();
  const { blocks, kept, glossary } = result.report;
  return (
    <div className="grid gap-3">
      <p className="flex flex-wrap items-center gap-2 text-muted">
        {blocks === 0 ? t('translate.nothing') : t('translate.done', { done: number(blocks - kept.length), n: blocks })}
        {result.source !== 'und' && <Badge><Raw>{languageName(result.source)}</Raw></Badge>}
        <span className="tnum">{t('translate.tokens', { n: number(result.usage.total_tokens) })}</span>
        {glossary.used > 0 && <span>{t('translate.used', { n: glossary.used })}</span>}
      </p>
      {result.simulated && <Note icon={<Info size={15} aria-hidden />}>{t('translate.simulated')}</Note>}
      {kept.length > 0 && (
        <div>
          <Note icon={<TriangleAlert size={15} aria-hidden />} warning>{t('translate.kept', { n: kept.length })}</Note>
          <ul data-testid="kept" className="mt-2 grid max-h-48 gap-2 overflow-y-auto">
            {kept.map((one) => (
              <li key={one.block} className="border-s-2 border-line ps-3">
                <Raw className="block truncate">{one.excerpt}</Raw>
                <span className="text-muted">{t(`translate.reason_${one.reason}`)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {glossary.missed.length > 0 && (
        <div>
          <Note icon={<TriangleAlert size={15} aria-hidden />} warning>{t('translate.missed', { n: glossary.missed.length })}</Note>
          <ul data-testid="missed" className="mt-2 flex flex-wrap gap-2">
            {glossary.missed.map((one) => (
              <li key={one.term}><Badge><Raw>{`${one.term} → ${one.wanted}`}</Raw></Badge></li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Note({ icon, warning = false, children }: { icon: ReactNode; warning?: boolean; children: ReactNode }) {
  return (
    <p className={`flex items-start gap-2 rounded-lg px-3 py-2 ${warning ? 'bg-warning-soft text-warning' : 'bg-info-soft text-info'}`}>
      <span className="mt-0.5 shrink-0">{icon}</span>
      <span>{children}</span>
    </p>
  );
}
