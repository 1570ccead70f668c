/** One file: looked at, compared with what it was, shared, saved. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Download, FileQuestion, FolderInput, LinkIcon, PenLine, Share2, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { membersQuery } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { objectQuery, type ObjectDetail } from '@/api/repository';
import { useBytes } from '@/app/bytes';
import { useLanguage } from '@/i18n/language';
import { lazyExtra, lazyPart } from '@/app/lazily';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useUnpinGone } from '@/app/pins';
import { useAbilities } from '@/app/abilities';
import { useIdentity } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { Tabs } from '@/ui/Tabs';
import { useDeleteFile } from './deleting';
import { download } from './download';
import { folderOf, nameIn } from './keys';
import { kindOf } from './kinds';
import { VisibilityMark } from './parts';
import { Preview } from './Preview';
import { ShareDialog } from './ShareDialog';
import { Trail } from './Trail';
import { Versions } from './Versions';
import { VisibilityMenu } from './VisibilityMenu';

const LinkDialog = lazyDialog(() => import('./LinkDialog'));
const MoveDialog = lazyDialog(() => import('./MoveDialog'));
const TextRead = lazyPart(() => import('./TextRead'));
const FileEntities = lazyExtra(() => import('./FileEntities'));
const Processing = lazyPart(() => import('./Processing'));

const VIEWS = ['preview', 'versions', 'text', 'processing'] as const;
type View = (typeof VIEWS)[number];

export default function FilePage() {
  const { t } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const file = useQuery(objectQuery(id));
  const gone = isRefusal(file.error) && file.error.status === 404;
  useUnpinGone(gone);
  if (file.data) return <Found key={id} file={file.data} />;
  if (gone) {
    return (
      <Page title={t('files.missing_title')}>
        <Card>
          <Empty
            icon={FileQuestion}
            title={t('files.missing_title')}
            body={t('files.missing_body')}
            action={<Link to="/files" className={buttonClass()}>{t('nav.files')}</Link>}
          />
        </Card>
      </Page>
    );
  }
  return (
    <Page title={t('app.loading')}>
      {file.error ? (
        <Problem error={file.error} onRetry={() => void file.refetch()} />
      ) : (
        <Card><SkeletonRows label={t('app.loading')} /></Card>
      )}
    </Page>
  );
}

function useAddress() {
  const search = useSearch({ strict: false }) as { view?: string; share?: boolean; from?: number; to?: number; find?: string };
  const navigate = useNavigate();
  const view = VIEWS.find((one) => one === search.view) ?? 'preview';
  const go = (next: { view?: View; share?: boolean }) => void navigate({ to: '.', search: next as never, replace: true });
  const keep = view === 'preview' ? {} : { view };
  return {
    view,
    sharing: search.share === true,
    place: [Number(search.from), Number(search.to)] as const,
    wanted: String(search.find ?? ''),
    show: (next: View) => go(next === 'preview' ? {} : { view: next }),
    share: (open: boolean) => go(open ? { ...keep, share: true } : keep),
  };
}

function Found({ file }: { file: ObjectDetail }) {
  const { t, number } = useLanguage();
  const navigate = useNavigate();
  const { view, sharing, place, wanted, show, share } = useAddress();
  const remove = useDeleteFile();
  const may = useAbilities(file);
  const above = folderOf(file.key);
  const drop = async () => {
    if (await remove(file)) await navigate({ to: '/files', search: (above ? { at: above } : {}) as never });
  };
  useShortcuts([
    { keys: 'h', label: 'files.versions', run: () => show('versions') },
    ...(may.manages ? [{ keys: 's', label: 'files.share', run: () => share(true) } as const] : []),
  ]);
  return (
    <Page
      title={nameIn(file.key)}
      raw
      actions={
        <Actions
          file={file}
          writes={may.writes}
          manages={may.manages}
          deletes={may.deletes}
          onShare={() => share(true)}
          onDelete={() => void drop()}
        />
      }
    >
      <div className="-mt-3 mb-4 flex flex-wrap items-center gap-x-4 gap-y-1">
        <Trail folder={above} file={nameIn(file.key)} />
      </div>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Card className="min-w-0 overflow-hidden">
          <Tabs views={VIEWS} view={view} label={t('files.views')} className="px-3" onView={show}>
            {(one) => (
              <>
                {t(`files.view_${one}`)}
                {one === 'versions' && <span data-raw className="text-xs text-muted tnum">{number(file.version_count)}</span>}
              </>
            )}
          </Tabs>
          <div id="view" role="tabpanel" aria-labelledby={`tab-${view}`}>
            {view === 'preview' && <Preview file={file} />}
            {view === 'versions' && <Versions file={file} writes={may.writes} />}
            {view === 'text' && <TextRead text={file.text} place={place} wanted={wanted} />}
            {view === 'processing' && <Processing id={file.id} />}
          </div>
        </Card>
        <Facts file={file} />
      </div>
      {sharing && may.manages && <ShareDialog file={file} onClose={() => share(false)} />}
    </Page>
  );
}

function Actions({
  file,
  writes,
  manages,
  deletes,
  onShare,
  onDelete,
}: {
  file: ObjectDetail;
  writes: boolean;
  manages: boolean;
  deletes: boolean;
  onShare: () => void;
  onDelete: () => void;
}) {
  const { t } = useLanguage();
  const { team } = useIdentity();
  const [linking, setLinking] = useState(false);
  const [moving, setMoving] = useState(false);
  // Links are signed by S3 keys, which reach the files of one's own team.
  const links = file.team_id === team.id;
  return (
    <>
      {deletes && <Button kind="danger-ghost" onClick={onDelete}><Trash2 size={15} aria-hidden />{t('files.delete')}</Button>}
      {writes && <Button onClick={() => setMoving(true)}><FolderInput size={15} aria-hidden />{t('files.move')}</Button>}
      {manages && <VisibilityMenu file={file} />}
      {links && (
        <Button onClick={() => setLinking(true)}>
          <LinkIcon size={15} aria-hidden />
          {t('files.link')}
        </Button>
      )}
      {manages && (
        <Button onClick={onShare}>
          <Share2 size={15} aria-hidden />
          {t('files.share')}
        </Button>
      )}
      {kindOf(file) === 'markdown' && (
        <Link to="/documents/$id" params={{ id: file.id }} className={buttonClass()}>
          <PenLine size={15} aria-hidden />
          {t('files.write')}
        </Link>
      )}
      <Button kind="primary" onClick={() => download(file)}>
        <Download size={15} aria-hidden />
        {t('files.download')}
      </Button>
      {moving && <MoveDialog what={file} onClose={() => setMoving(false)} />}
      {linking && <LinkDialog file={file} onClose={() => setLinking(false)} />}
    </>
  );
}

function Facts({ file }: { file: ObjectDetail }) {
  const { t, dateTime } = useLanguage();
  const bytes = useBytes();
  const members = useQuery(membersQuery);
  const owner = members.data?.find((member) => member.id === file.owner_id)?.display_name;
  return (
    <Card className="p-5">
      <h2 className="mb-3 font-semibold">{t('files.facts')}</h2>
      <dl className="grid gap-3">
        <Fact name={t('files.key')}><span data-raw className="font-mono text-sm break-all">{file.key}</span></Fact>
        <Fact name={t('files.seen_by')}><VisibilityMark visibility={file.visibility} words /></Fact>
        {owner && <Fact name={t('files.owner')}><span data-raw>{owner}</span></Fact>}
        <Fact name={t('files.size')}>{bytes(file.size)}</Fact>
        <Fact name={t('files.type')}><span data-raw className="font-mono text-sm break-all">{file.content_type}</span></Fact>
        <Fact name={t('files.changed')}>{dateTime(file.updated_at)}</Fact>
        <Fact name={t('files.created')}>{dateTime(file.created_at)}</Fact>
      </dl>
      <FileEntities id={file.id} />
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <div><dt className="text-sm text-muted">{name}</dt><dd className="mt-0.5">{children}</dd></div>;
}
