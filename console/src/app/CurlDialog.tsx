import { asCurl, callsOf, screenNow } from '@/api/calls';
import { Dialog } from '@/ui/Overlay';
import { CopyButton } from '@/ui/Secret';
import { useLanguage } from '@/i18n/language';

/** The calls behind this screen, each as a command. */
export default function CurlDialog({ onClose }: { onClose: () => void }) {
  const { t, rich } = useLanguage();
  const calls = callsOf(screenNow());
  return (
    <Dialog open onClose={onClose} title={t('app.curl_title')} description={t('app.curl_description')} wide>
      <p className="mb-4 text-sm text-muted">
        {rich('app.curl_token', {
          code: (parts) => <code key="name" data-raw className="font-mono">{parts}</code>,
          link: (parts) => <a key="docs" href="/docs" className="text-link underline underline-offset-2">{parts}</a>,
        })}
      </p>
      {calls.length === 0 && <p className="rounded-lg bg-raised p-4 text-muted">{t('app.curl_none')}</p>}
      <ul className="grid gap-3">
        {calls.map((call) => (
          <li key={call.method + call.path} className="overflow-hidden rounded-lg border border-line">
            <div className="flex items-center gap-2 border-b border-line bg-raised py-1.5 ps-3 pe-1.5">
              <code data-raw className="min-w-0 flex-1 truncate font-mono text-xs">
                <b className="font-semibold">{call.method}</b> {call.path}
              </code>
              <CopyButton text={asCurl(call)} />
            </div>
            <pre
              data-raw
              tabIndex={0}
              aria-label={`${call.method} ${call.path}`}
              className="overflow-x-auto p-3 font-mono text-xs leading-relaxed"
            >
              {asCurl(call)}
            </pre>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
