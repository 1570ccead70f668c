/** Leaving: the server ends the session and makes the browser forget it; without an answer nobody has left. */
import { useCallback } from 'react';
import { api } from '@/api/client';
import { isRefusal } from '@/api/refusal';
import { signedIn } from '@/api/signed-in';
import { wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { useLanguage } from '@/i18n/language';

export function useSignOut(): (where?: 'everywhere') => Promise<void> {
  const language = useLanguage();
  return useCallback(
    async (where) => {
      try {
        if (where === 'everywhere') await api.DELETE('/api/sessions');
        await api.POST('/api/logout');
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // Ended already is as good.
        if (error.status !== 401) return toast(wordsFor(language, error));
      }
      signedIn.clear();
      location.hash = '#/sign-in';
      location.reload();
    },
    [language],
  );
}
