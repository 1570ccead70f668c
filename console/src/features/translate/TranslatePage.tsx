/** A text and its translation side by side, what became of each part, and what was translated before. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, BookA } from 'lucide-react';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { api, value } from '@/api/client';
import { lazyPart } from '@/app/lazily';
import { Page } from '@/app/Page';
import { useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { lastTarget, rememberTarget } from './languages';
import { LanguageSelect } from './LanguageSelect';
import { FORMATS, type Draft, type Format, type StoredTranslation, type Translation } from './queries';
import { Result } from './Result';

const History = lazyPart(() => import('./History'));

export default function TranslatePage() {
  const { t, locale } = useLanguage();
  const readOnly = useReadOnly();
  const [draft, setDraft] = useState<Draft>(() => ({ text: '', target: lastTarget(locale), source: null, format: 'text' }));
  const [result, setResult] = useState<Translation | null>(null);
  const translate = useTranslate(setResult);
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const send = () => {
    if (!draft.text.trim() || translate.isPending || readOnly) return;
    rememberTarget(draft.target);
    translate.mutate(draft);
  };
  const reopen = (one: StoredTranslation) => {
    translate.reset();
    setDraft({ text: one.original, target: one.target, source: one.source === 'und' ? null : one.source, format: one.format });
    setResult(one);
    scrollTo({ top: 0 });
  };
  return (
    <Page
      title={t('nav.translate')}
      description={t('translate.lead')}
      actions={
        <Link to="/settings/glossary" className={buttonClass()}>
          <BookA size={16} aria-hidden />
          {t('nav.glossary')}
        </Link>
      }
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Choices draft={draft} onChange={change} />
        <div className="mt-4 grid items-start gap-4 lg:grid-cols-2">
          <Source text={draft.text} onChange={(text) => change({ text })} onSend={send} />
          <Result result={result} busy={translate.isPending} />
        </div>
        <div className="mt-4 flex flex-wrap items-center gap-3">
          <Button type="submit" kind="primary" busy={translate.isPending} disabled={readOnly || !draft.text.trim()}>
            {t('translate.translate')}
            <ArrowRight size={16} aria-hidden />
          </Button>
          <span className="text-sm text-muted">{t('translate.stays')}</span>
        </div>
        <div className="mt-4"><Problem error={translate.error} /></div>
      </form>
      <History openId={result?.id} onOpen={reopen} />
    </Page>
  );
}

/** One translation at a time; leaving the page hangs up, and the server stops asking. */
function useTranslate(onDone: (result: Translation) => void) {
  const queries = useQueryClient();
  const line = useRef<AbortController | null>(null);
  useEffect(() => () => line.current?.abort(), []);
  return useMutation({
    mutationFn: (body: Draft) => {
      line.current = new AbortController();
      return value(api.POST('/api/translate', { body, signal: line.current.signal }));
    },
    onSuccess: (result) => {
      onDone(result);
      void queries.invalidateQueries({ queryKey: ['translations'] });
    },
  });
}

function Choices({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  const { t } = useLanguage();
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <LanguageSelect
        label={t('translate.from')}
        value={draft.source ?? ''}
        none={t('translate.found_out')}
        onChange={(tag) => onChange({ source: tag || null })}
      />
      <LanguageSelect label={t('translate.to')} value={draft.target} onChange={(target) => onChange({ target })} />
      <SelectField
        label={t('translate.format')}
        value={draft.format ?? 'text'}
        onChange={(event) => onChange({ format: event.target.value as Format })}
      >
        {FORMATS.map((one) => <option key={one} value={one}>{t(`translate.format_${one}`)}</option>)}
      </SelectField>
    </div>
  );
}

function Source({ text, onChange, onSend }: { text: string; onChange: (text: string) => void; onSend: () => void }) {
  const { t } = useLanguage();
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onSend();
    }
  };
  return (
    <Card className="p-4">
      <label htmlFor={id} className="mb-2 flex h-8 items-center font-medium">{t('translate.text')}</label>
      <textarea
        data-raw
        id={id}
        rows={12}
        maxLength={200_000}
        value={text}
        placeholder={t('translate.text_hint')}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        className="field h-auto resize-y py-2"
      />
    </Card>
  );
}
