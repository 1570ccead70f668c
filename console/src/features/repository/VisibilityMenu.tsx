import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, value } from '@/api/client';
import type { ObjectDetail, Visibility } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { Menu, MenuContent } from '@/ui/Overlay';
import { wordsFor } from '@/ui/Problem';
import { isRefusal } from '@/api/refusal';
import { toast } from '@/ui/toast';
import { VISIBILITIES } from './parts';

/** Who sees the file besides its owner. Going private ends every share, so that asks first. */
export function VisibilityMenu({ file }: { file: ObjectDetail }) {
  const language = useLanguage();
  const { t } = language;
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const change = useMutation({
    mutationFn: (visibility: Visibility) =>
      value(api.POST('/api/repo-obj/{id}/visibility', { params: { path: { id: file.id } }, body: { visibility } })),
    onSuccess: (changed) => {
      setAsking(false);
      void queries.invalidateQueries({ queryKey: ['file', file.id] });
      void queries.invalidateQueries({ queryKey: ['files'] });
      toast(t(`files.now_${changed.visibility}`));
    },
    onError: (error) => !asking && isRefusal(error) && toast(wordsFor(language, error)),
  });
  const choose = (next: Visibility) => {
    if (next === file.visibility) return;
    if (next === 'private' && file.visibility === 'shared') setAsking(true);
    else change.mutate(next);
  };
  const Icon = VISIBILITIES.find(([name]) => name === file.visibility)![1];
  return (
    <>
      <Menu.Root>
        <Menu.Trigger asChild>
          <Button busy={change.isPending}>
            <Icon size={15} aria-hidden />
            {t(`files.${file.visibility}`)}
          </Button>
        </Menu.Trigger>
        <MenuContent align="end">
          {VISIBILITIES.map(([name, Choice]) => (
            <Menu.Item
              key={name}
              onSelect={() => choose(name)}
              className="flex w-72 cursor-pointer gap-2.5 rounded-md p-2.5 outline-none data-highlighted:bg-raised"
            >
              <Choice size={16} className="mt-0.5 shrink-0 text-muted" aria-hidden />
              <span>
                <span className="block font-medium">{t(`files.${name}`)}</span>
                <span className="block text-sm text-muted">{t(`files.${name}_more`)}</span>
              </span>
            </Menu.Item>
          ))}
        </MenuContent>
      </Menu.Root>
      {asking && (
        <Confirm
          title={t('files.private_title')}
          body={t('files.private_body')}
          action={t('files.private_do')}
          busy={change.isPending}
          error={change.error}
          onConfirm={() => change.mutate('private')}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
