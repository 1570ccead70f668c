/** Who is signed in, and what they may do. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { identityQuery, type Identity } from '@/api/queries';
import { signedIn } from '@/api/signed-in';
import { forgetLook } from './look';

/** The signed-in person; present on every screen below the shell. */
export function useIdentity(): Identity {
  const { data } = useQuery(identityQuery);
  if (!data) throw new Error('useIdentity needs the shell, which waits for the identity');
  return data;
}

/** Not a permission: who runs the server. The owner of a hosted workspace holds instance:manage, and is none. */
export const OPERATOR = 'operator';

/** Whether the signed-in person holds a permission, or is an operator. */
export function useMay(): (permission?: string) => boolean {
  const { permissions, operator } = useIdentity();
  return useCallback(
    (permission) => permission === undefined || (permission === OPERATOR ? operator : permissions.includes(permission)),
    [permissions, operator],
  );
}

/** Whether writing works: a suspended company only reads. */
export const useReadOnly = (): boolean => useIdentity().org.suspended ?? false;

/** The browser has a new session; nothing of the former one stays on screen. */
export function useSignIn(): () => void {
  const queries = useQueryClient();
  return useCallback(() => {
    window.atrium.identity = null;
    queries.clear();
    forgetLook();
    signedIn.set();
  }, [queries]);
}
