import { useLanguage } from '@/app/language';
import { Editor } from './Editor';
import { instancePlace } from './look';

export default function InstanceBranding() {
  const { t } = useLanguage();
  return <Editor title={t('branding.instance_title')} lead={t('branding.instance_lead')} from={t('branding.from_product')} place={instancePlace} writable />;
}
