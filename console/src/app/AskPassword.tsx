import { FormDialog, type FormOf } from '@/ui/FormDialog';
import { useOwnPassword } from './own-password';

interface Props extends FormOf<string> {
  title: string;
  description: string;
  action: string;
}

/** Asks for nothing but the password before something is given. */
export function AskPassword({ error, onSubmit, ...rest }: Props) {
  const own = useOwnPassword(error, { autoFocus: true });
  const submit = (form: FormData) => {
    const password = own.read(form);
    if (password) onSubmit(password);
  };
  return (
    <FormDialog {...rest} error={own.refused ? null : error} onSubmit={submit}>
      {own.field}
    </FormDialog>
  );
}
