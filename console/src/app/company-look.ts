import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, value } from '@/api/client';
import { applyBranding } from './look';

/** Keep to the company's look while somebody is signed in; called once by the shell. */
export function useCompanyLook(): void {
  const { data } = useQuery({ queryKey: ['look'], queryFn: () => value(api.GET('/api/branding')), staleTime: 300_000 });
  useEffect(() => {
    if (data) applyBranding(data);
  }, [data]);
}
