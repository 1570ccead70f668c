import { CircleCheckBig, Hourglass } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { Schemas } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { AskPassword } from '@/app/AskPassword';
import { useLanguage } from '@/i18n/language';
import { Badge, Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { Secret } from '@/ui/Secret';
import { toast } from '@/ui/toast';
import { useChange, type Company } from './companies';

/** The company's own hostname; while its proof waits, what to publish is here to copy. */
export function Hostname({ company }: { company: Company }) {
  const { t } = useLanguage();
  const [domain, setDomain] = useState(company.domain ?? '');
  const change = useChange(company, (changed) =>
    toast(
      t(
        changed.domain === null
          ? 'companies.hostname_cleared'
          : changed.domain_verified
            ? 'companies.hostname_works'
            : 'companies.hostname_still_waits',
      ),
    ),
  );
  const [asked, setAsked] = useState<Schemas['CompanyChange'] | null>(null);
  const typed = domain.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked({ domain: typed || null });
  };
  const close = () => {
    setAsked(null);
    change.reset();
  };
  const refused = isRefusal(change.error, 'identity.confirm_required');
  const confirm = (password: string) =>
    change.mutate({ ...asked, password }, { onSettled: (_, error) => isRefusal(error, 'identity.confirm_required') || setAsked(null) });
  const about = isRefusal(change.error, 'tenancy.domain_taken')
    ? t('errors.tenancy_domain_taken')
    : isRefusal(change.error, 'tenancy.bad_domain')
      ? t('errors.tenancy_bad_domain')
      : undefined;
  return (
    <Card className="p-5">
      <div className="flex flex-wrap items-center gap-2.5">
        <h2 className="text-lg font-semibold">{t('company.hostname')}</h2>
        {company.domain &&
          (company.domain_verified ? (
            <Badge tone="success">
              <CircleCheckBig size={12} aria-hidden />
              {t('companies.works')}
            </Badge>
          ) : (
            <Badge tone="warning">
              <Hourglass size={12} aria-hidden />
              {t('companies.waits')}
            </Badge>
          ))}
      </div>
      <p className="mt-0.5 mb-4 text-muted">{t('companies.hostname_lead')}</p>
      <form noValidate onSubmit={submit} className="grid gap-4">
        <TextField
          label={t('company.hostname')}
          value={domain}
          onChange={(event) => setDomain(event.target.value)}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={t('companies.hostname_example')}
          problem={about}
        />
        {!about && !refused && <Problem error={change.error} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" busy={change.isPending} disabled={typed === (company.domain ?? '')}>
            {t(typed || !company.domain ? 'ui.save' : 'companies.clear')}
          </Button>
        </div>
      </form>
      {company.proof && (
        <Proof company={company} busy={change.isPending} onCheck={(waive_proof) => setAsked({ domain: company.domain, waive_proof })} />
      )}
      {asked && (
        <AskPassword
          title={t('company.hostname')}
          description={t('companies.hostname_ask')}
          action={t(asked.domain ? 'ui.save' : 'companies.clear')}
          busy={change.isPending}
          error={refused ? change.error : null}
          onSubmit={confirm}
          onClose={close}
        />
      )}
    </Card>
  );
}

function Proof({ company, busy, onCheck }: { company: Company; busy: boolean; onCheck: (waive: boolean) => void }) {
  const { t } = useLanguage();
  return (
    <div className="mt-5 grid gap-4 rounded-lg border border-warning/30 bg-warning-soft p-4">
      <p className="text-warning">{t('companies.proof_lead')}</p>
      <Secret label={t('companies.proof_name')} text={company.proof?.name ?? ''} />
      <Secret label={t('companies.proof_value')} text={company.proof?.value ?? ''} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" busy={busy} onClick={() => onCheck(false)}>{t('companies.check')}</Button>
        <Button disabled={busy} onClick={() => onCheck(true)}>{t('companies.waive')}</Button>
      </div>
      <p className="text-sm text-muted">{t('companies.waive_hint')}</p>
    </div>
  );
}
