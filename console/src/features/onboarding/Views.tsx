/** The parts of the editor, one at a time beside the preview. */
import { useLanguage } from '@/i18n/language';
import { Tabs } from '@/ui/Tabs';

export const VIEWS = ['fields', 'texts', 'look', 'page', 'judge', 'versions'] as const;
export type View = (typeof VIEWS)[number];

interface Props {
  view: View;
  /** The parts in which something has to be mended. */
  faulty: ReadonlySet<View>;
  onView: (view: View) => void;
}

export function Views({ view, faulty, onView }: Props) {
  const { t } = useLanguage();
  return (
    <Tabs views={VIEWS} view={view} label={t('onboarding.views')} className="mb-5" onView={onView}>
      {(one) => (
        <>
          {t(`onboarding.view_${one}`)}
          {faulty.has(one) && (
            <>
              <span aria-hidden className="size-2 rounded-full bg-danger" />
              <span className="sr-only">{t('onboarding.view_faulty')}</span>
            </>
          )}
        </>
      )}
    </Tabs>
  );
}
