/** What the menu beside somebody on the members' page opens. */
export const forSomebody = (t, action, name = 'Inés Ortega') => async (page) => {
  await page.getByRole('button', { name: t('members.actions_for', { name }) }).click();
  await page.getByRole('menuitem', { name: t(action) }).click();
  await page.getByRole('dialog').waitFor();
};
