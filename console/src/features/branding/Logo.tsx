import { useMutation } from '@tanstack/react-query';
import { ImageUp, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { Section } from '@/app/colours/parts';
import { asDataUri } from '@/app/data-uri';
import { useLanguage } from '@/i18n/language';
import mark from '@/mark.svg';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import type { Look, Place } from './look';

const KINDS = ['image/png', 'image/jpeg', 'image/webp'];
const MOST = 1024 * 1024;

/** A picture chosen is a picture kept: it is drawn anew on the server and shown at once. */
export function Logo({ look, place, onKept }: { look: Look; place: Place; onKept: (look: Look) => void }) {
  const { t } = useLanguage();
  const input = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState(false);
  const keep = useMutation({
    mutationFn: (run: () => Promise<Look>) => run(),
    onSuccess: (saved) => {
      toast(t(saved.own_logo ? 'branding.logo_saved' : 'branding.logo_removed'));
      onKept(saved);
    },
  });
  const choose = (file: File | undefined) => {
    if (!file) return;
    const fits = KINDS.includes(file.type) && file.size <= MOST;
    setWrong(!fits);
    if (fits) keep.mutate(async () => place.upload(await asDataUri(file)));
  };
  return (
    <Section title={t('branding.logo')} lead={t('branding.logo_lead')}>
      <div className="flex flex-wrap items-center gap-4">
        <span className="grid size-16 shrink-0 place-items-center overflow-hidden rounded-lg border border-line bg-bg">
          <img
            src={look.logo ?? mark}
            alt={t(look.logo ? 'branding.logo_now' : 'branding.logo_none')}
            className="max-h-12 max-w-12 object-contain"
          />
        </span>
        <div className="flex flex-wrap gap-2">
          <input
            ref={input}
            type="file"
            hidden
            accept={KINDS.join()}
            aria-label={t('branding.logo_choose')}
            onChange={(event) => {
              choose(event.target.files?.[0]);
              event.target.value = '';
            }}
          />
          <Button busy={keep.isPending} onClick={() => input.current?.click()}>
            <ImageUp size={15} aria-hidden />
            {t('branding.logo_choose')}
          </Button>
          {look.own_logo && (
            <Button kind="danger-ghost" disabled={keep.isPending} onClick={() => keep.mutate(() => place.removeLogo(look))}>
              <Trash2 size={15} aria-hidden />
              {t('branding.logo_remove')}
            </Button>
          )}
        </div>
      </div>
      <div className="mt-3 empty:hidden">
        {wrong ? (
          <p role="alert" className="text-sm text-danger">{t('branding.logo_wrong')}</p>
        ) : (
          keep.error && <Problem error={keep.error} />
        )}
      </div>
    </Section>
  );
}
