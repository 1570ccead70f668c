/** Who is signed in, and what they may do. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { credential } from '@/api/credential';
import { identityQuery, type Identity } from '@/api/queries';
import { forgetLook } from './look';

/** The signed-in person; present on every screen below the shell. */
export function useIdentity(): Identity {
  const { data } = useQuery(identityQuery);
  if (!data) throw new Error('useIdentity needs the shell, which waits for the identity');
  return data;
}

/** Whether the signed-in person holds a permission. */
export function useMay(): (permission?: string) => boolean {
  const { permissions } = useIdentity();
  return useCallback((permission) => permission === undefined || permissions.includes(permission), [permissions]);
}

/** Whether writing works: a suspended company only reads. */
export const useReadOnly = (): boolean => useIdentity().org.suspended ?? false;

/** Take a new token as this browser's session; nothing of the former one stays on screen. */
export function useSignIn(): (token: string) => void {
  const queries = useQueryClient();
  return useCallback(
    (token) => {
      window.atrium.identity = null;
      queries.clear();
      forgetLook();
      credential.set(token);
    },
    [queries],
  );
}
