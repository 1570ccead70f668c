import { Download } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { CopyButton } from '@/ui/Secret';

/** Ten codes, each good for one sign-in without the phone. */
export function RecoveryCodes({ codes }: { codes: string[] }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const download = () => {
    const text = `${t('account.codes_file', { title: window.atrium.look.title, username: user.username })}\n\n${codes.join('\n')}\n`;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    link.download = `${window.atrium.look.title}-${user.username}-codes.txt`.toLowerCase();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return (
    <div>
      <ul
        data-raw
        aria-label={t('account.codes')}
        className="grid gap-x-6 gap-y-1 rounded-lg bg-raised p-4 font-mono text-sm sm:grid-cols-2"
      >
        {codes.map((code) => <li key={code} data-testid="recovery-code">{code}</li>)}
      </ul>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button size="small" onClick={download}>
          <Download size={14} aria-hidden />
          {t('account.codes_download')}
        </Button>
        <CopyButton text={codes.join('\n')} />
      </div>
    </div>
  );
}
