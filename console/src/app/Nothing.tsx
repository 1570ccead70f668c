/** A place in the address that shows nothing of its own. */
export default function Nothing() {
  return null;
}
