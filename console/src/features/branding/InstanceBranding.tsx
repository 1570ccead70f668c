import { useLanguage } from '@/i18n/language';
import { Editor } from './Editor';
import { instancePlace } from './look';

export default function InstanceBranding() {
  const { t } = useLanguage();
  return (
    <Editor
      title={t('nav.instance_branding')}
      lead={t('branding.instance_lead')}
      from={t('branding.from_product')}
      place={instancePlace}
      writable
    />
  );
}
