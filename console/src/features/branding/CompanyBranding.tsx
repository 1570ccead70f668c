import { useLanguage } from '@/app/language';
import { useMay, useReadOnly } from '@/app/session';
import { Editor } from './Editor';
import { companyPlace } from './look';

export default function CompanyBranding() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  return <Editor title={t('branding.company_title')} lead={t('branding.company_lead')} from={t('branding.from_instance')} place={companyPlace} writable={may('org:manage') && !readOnly} />;
}
