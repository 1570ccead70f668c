import { useIdentity } from '@/app/session';
import { PasswordPanel } from './PasswordPanel';
import { TwoFactorPanel } from './TwoFactorPanel';

export default function Security() {
  const { credential } = useIdentity();
  return (
    <>
      <PasswordPanel first={credential === 'first'} />
      <TwoFactorPanel />
    </>
  );
}
