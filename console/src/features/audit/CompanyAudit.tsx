import { useQuery } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Trail } from './AuditPage';

/** The trail of every team of the company. */
export default function CompanyAudit() {
  const { t } = useLanguage();
  const people = useQuery({
    queryKey: ['members', 'company', 'first'],
    queryFn: async () => (await value(api.GET('/api/members', { params: { query: { scope: 'org', limit: 200 } } }))).items,
  });
  return (
    <Trail
      name="company"
      title={t('nav.company_audit')}
      lead={t('company.audit_lead')}
      people={people.data ?? []}
      read={(query) => value(api.GET('/api/org/audit', { params: { query } }))}
    />
  );
}
