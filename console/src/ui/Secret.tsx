/** Something shown once: easy to copy, impossible to miss. */
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from './Button';

export function CopyButton({ text, label, size = 'small' }: { text: string; label?: string; size?: 'small' | 'medium' }) {
  const { t } = useLanguage();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  const Icon = copied ? Check : Copy;
  return (
    <Button size={size} onClick={() => void copy()}>
      <Icon size={14} aria-hidden />
      <span aria-live="polite">{copied ? t('ui.copied') : (label ?? t('ui.copy'))}</span>
    </Button>
  );
}

export function Secret({ text, label }: { text: string; label: string }) {
  return (
    <div>
      <p className="mb-1.5 text-sm font-medium">{label}</p>
      <div className="flex items-start gap-2 rounded-lg border border-line bg-raised p-2 ps-3">
        <code data-raw data-testid="secret" className="min-w-0 flex-1 self-center font-mono text-sm break-all select-all">{text}</code>
        <CopyButton text={text} />
      </div>
    </div>
  );
}

/** The clipboard needs a secure context; on plain http a selected field still copies. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
