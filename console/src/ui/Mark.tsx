import product from '@/mark.svg';

/** The logo of who is at home here, or the product's own mark. */
export function Mark({ logo, size = 28 }: { logo: string | null; size?: number }) {
  return <img src={logo ?? product} alt="" width={size} height={size} className="shrink-0 object-contain" data-testid="mark" />;
}
