/** Without a model of one's own: what answers now, and how to connect one. */
import { useQuery } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import { useMay } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { CopyButton } from '@/ui/Secret';
import { modelQuery } from './queries';

const WAYS = [
  ['Ollama', 'SERVICE_LOCAL_MODEL_URL=http://127.0.0.1:11434/v1 SERVICE_LOCAL_MODEL=llama3.2'],
  ['llama.cpp', 'SERVICE_LOCAL_MODEL_URL=http://127.0.0.1:8080/v1'],
  ['vLLM', 'SERVICE_LOCAL_MODEL_URL=http://127.0.0.1:8000/v1 SERVICE_LOCAL_MODEL=qwen3'],
] as const;

export function ConnectModel() {
  const { t } = useLanguage();
  const may = useMay();
  const model = useQuery(modelQuery);
  return (
    <section aria-label={t('chat.connect_title')} className="rounded-xl border border-line bg-surface p-5 shadow-card">
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <PlugZap size={18} className="text-link" aria-hidden />
        {t('chat.connect_title')}
      </h2>
      <p className="mt-1 text-muted">{t(may('instance:manage') ? 'chat.connect_body' : 'chat.connect_ask')}</p>
      {may('instance:manage') && (
        <>
          <ul className="mt-4 grid gap-2">
            {WAYS.map(([name, line]) => (
              <li key={name} className="flex flex-wrap items-center gap-2">
                <span data-raw className="w-20 shrink-0 text-sm font-medium">{name}</span>
                <code data-raw className="min-w-0 flex-1 rounded-sm bg-raised px-2 py-1.5 font-mono text-xs break-all">{line}</code>
                <CopyButton text={line} />
              </li>
            ))}
          </ul>
          <Button className="mt-4" busy={model.isFetching} onClick={() => void model.refetch()}>{t('chat.connect_check')}</Button>
        </>
      )}
    </section>
  );
}
