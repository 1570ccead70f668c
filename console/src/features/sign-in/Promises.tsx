/** What the product promises, beside the form. */
import { KeyRound, NotebookPen, ShieldCheck, Terminal } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { useLook } from '@/app/look';

const PROMISES = [[NotebookPen, 'notes'], [ShieldCheck, 'safe'], [KeyRound, 'tokens'], [Terminal, 'open']] as const;

export default function Promises() {
  const { t } = useLanguage();
  const { tagline } = useLook();
  return (
    <>
      <Arches />
      <p className="relative max-w-md text-2xl font-semibold tracking-tight">
        {tagline ? <span data-raw>{tagline}</span> : t('signin.slogan')}
      </p>
      <ul className="relative mt-8 grid max-w-md gap-6">
        {PROMISES.map(([Icon, name]) => (
          <li key={name} className="flex gap-4">
            <span className="grid size-9 shrink-0 place-items-center rounded-lg border border-line bg-surface text-link shadow-card">
              <Icon size={17} aria-hidden />
            </span>
            <div>
              <p className="font-medium">{t(`signin.promise_${name}`)}</p>
              <p className="mt-0.5 text-muted">{t(`signin.promise_${name}_more`)}</p>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The mark, large and quiet. */
function Arches() {
  return (
    <svg
      aria-hidden
      viewBox="0 0 400 400"
      className="pointer-events-none absolute -end-64 -bottom-[31rem] size-[44rem] text-line"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    >
      {[40, 80, 120, 160, 200].map((width) => (
        <path key={width} d={`M${200 - width} 400V${200}a${width} ${width} 0 0 1 ${width * 2} 0V400`} />
      ))}
    </svg>
  );
}
