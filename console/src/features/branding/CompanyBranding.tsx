import { useLanguage } from '@/i18n/language';
import { useMay, useReadOnly } from '@/app/session';
import { Editor } from './Editor';
import { companyPlace } from './look';

export default function CompanyBranding() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  return (
    <Editor
      title={t('nav.company_branding')}
      lead={t('branding.company_lead')}
      from={t('branding.from_instance')}
      place={companyPlace}
      writable={may('org:manage') && !readOnly}
    />
  );
}
