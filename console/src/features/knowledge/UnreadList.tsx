/** Documents of the team that the graph does not know in their current version, and what is to be done about each. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMay } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Badge, type Tone } from '@/ui/bits';
import { ListPage } from '@/ui/ListPage';
import { unreadQuery, type Unread } from './queries';

/** What the next reading does away with is grey; what needs a person is not. */
const TONES: Record<Unread['reason'], Tone> = {
  new: 'neutral',
  changed: 'neutral',
  text_waiting: 'neutral',
  refused: 'warning',
  waits: 'danger',
  no_text: 'neutral',
  not_writable: 'neutral',
};

export function UnreadList() {
  const { t } = useLanguage();
  const may = useMay();
  const unread = useInfiniteQuery({ ...unreadQuery, enabled: may('workflows:run') });
  const items = unread.data?.pages.flatMap((page) => page.items);
  if (!may('workflows:run')) return null;
  return (
    <section aria-labelledby="unread" className="mt-8">
      <h2 id="unread" className="mb-1 font-semibold">{t('knowledge.unread')}</h2>
      <p className="mb-3 max-w-2xl text-sm text-muted">{t(items?.length === 0 ? 'knowledge.unread_none' : 'knowledge.unread_lead')}</p>
      {items?.length !== 0 && (
        <ListPage query={unread} rows={3}>
          <ul>{items?.map((one) => <Row key={one.object_id} unread={one} />)}</ul>
        </ListPage>
      )}
    </section>
  );
}

function Row({ unread }: { unread: Unread }) {
  const { t } = useLanguage();
  return (
    <li
      data-testid="unread"
      data-reason={unread.reason}
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 last:border-0"
    >
      <Link
        to="/files/$id"
        params={{ id: unread.object_id }}
        className="min-w-0 flex-1 basis-44 truncate leading-7 font-medium hover:underline"
      >
        <span data-raw>{unread.key}</span>
      </Link>
      <Badge tone={TONES[unread.reason]}>{t(`knowledge.reason_${unread.reason}`)}</Badge>
      <span className="w-full text-sm text-muted">{t(`knowledge.about_${unread.reason}`)}</span>
    </li>
  );
}
