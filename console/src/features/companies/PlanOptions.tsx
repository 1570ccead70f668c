import { useQuery } from '@tanstack/react-query';
import { NAMED_PLANS, statusQuery } from '@/api/companies';
import { useLanguage } from '@/i18n/language';

/** The plans that the server’s settings name, each in this language when it has a word for it. */
export function PlanOptions() {
  const { find } = useLanguage();
  const { data } = useQuery(statusQuery);
  return (data?.plans ?? NAMED_PLANS).map((plan) => <option key={plan} value={plan}>{find(`company.plan_${plan}`) ?? plan}</option>);
}
