/** Every state the file was in: saved, compared, brought back. */
import { useQueryClient } from '@tanstack/react-query';
import type { ObjectDetail, Version } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '@/app/session';
import { VersionList } from '@/app/versions/VersionList';
import { download, readBytes } from './download';
import { isText, kindOf } from './kinds';
import { restore } from './restoring';

export function Versions({ file, writes }: { file: ObjectDetail; writes: boolean }) {
  const { t } = useLanguage();
  const { team } = useIdentity();
  const queries = useQueryClient();
  const bringBack = async (version: Version): Promise<number> => {
    const object = await restore(file, version);
    void queries.invalidateQueries({ queryKey: ['file', file.id] });
    void queries.invalidateQueries({ queryKey: ['files'] });
    return object.version.number;
  };
  return (
    <div>
      <VersionList
        versions={file.versions.filter((version) => !version.deleted)}
        current={file.version.number}
        texts={{ key: ['file', file.id], read: async (number) => (await readBytes(file.id, number)).text() }}
        isText={(version) => isText(kindOf(version))}
        restore={writes && file.team_id === team.id ? bringBack : undefined}
        onDownload={(version) => download(file, version.number)}
      />
      {file.version_count > file.versions.length && (
        <p className="px-5 py-3 text-sm text-muted">{t('versions.older', { n: file.version_count - file.versions.length })}</p>
      )}
    </div>
  );
}
