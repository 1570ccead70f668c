/** Colours written #rrggbb: their WCAG contrast, and the nearest one of the same hue that meets a condition. Nothing about themes. */
type Triple = readonly [number, number, number];

const HEX = /^#[0-9a-f]{6}$/i;
const STEPS = 512;
const NARROWING = 8;
const LINEAR = Array.from({ length: 256 }, (_, n) => {
  const value = n / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

export const isColour = (text: string): boolean => HEX.test(text);

/** The contrast ratio of two colours, unrounded: 1 to 21. */
export function contrast(one: string, other: string): number {
  const [here, there] = [luminance(one) + 0.05, luminance(other) + 0.05];
  return here >= there ? here / there : there / here;
}

/** What a stylesheet gets from `color-mix(in srgb, colour 12%, ground)`. */
export function tint(colour: string, ground: string): string {
  const below = channels(ground);
  // 3/25 of one and 22/25 of the other, rounded in whole numbers as the server does.
  return hex(channels(colour).map((channel, at) => Math.floor((6 * channel + 44 * (below[at] ?? 0) + 25) / 50)) as unknown as Triple);
}

/** The passing colour closest to the wanted one among the lighter and darker ones of its hue. */
export function nearest(wanted: string, passes: (colour: string) => boolean): string | null {
  const place = oklab(wanted);
  const found = ([1, -1] as const).map((step) => first(place, step, passes)).filter((colour) => colour !== null);
  return found.sort((one, other) => distance(place, oklab(one)) - distance(place, oklab(other)))[0] ?? null;
}

/** Walk towards white or black to the first colour that passes; the pole itself is the last one tried. */
function first(place: Triple, step: 1 | -1, passes: (colour: string) => boolean): string | null {
  for (let lightness = place[0] + step / STEPS; lightness > 0 && lightness < 1; lightness += step / STEPS) {
    const colour = shade(place, lightness);
    if (passes(colour)) return colour;
  }
  const pole = step > 0 ? '#ffffff' : '#000000';
  return passes(pole) ? pole : null;
}

/** The hue at another lightness, with as much of its chroma as a screen can show there. */
function shade([, a, b]: Triple, lightness: number): string {
  const whole = linear([lightness, a, b]);
  if (isShown(whole)) return painted(whole);
  let [low, high] = [0, 1];
  for (let round = 0; round < NARROWING; round++) {
    const middle = (low + high) / 2;
    if (isShown(linear([lightness, a * middle, b * middle]))) low = middle;
    else high = middle;
  }
  return painted(linear([lightness, a * low, b * low]));
}

function luminance(colour: string): number {
  const [red, green, blue] = lights(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function oklab(colour: string): Triple {
  const [red, green, blue] = lights(colour);
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}

function linear([lightness, a, b]: Triple): Triple {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ];
}

const isShown = (colour: Triple): boolean => colour.every((channel) => channel >= -0.0005 && channel <= 1.0005);
const encoded = (channel: number): number => (channel <= 0.0031308 ? 12.92 * channel : 1.055 * channel ** (1 / 2.4) - 0.055);
const painted = (colour: Triple): string =>
  hex(colour.map((channel) => Math.round(255 * encoded(Math.min(1, Math.max(0, channel))))) as unknown as Triple);
const distance = (one: Triple, other: Triple): number => Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
const channels = (colour: string): Triple => [
  parseInt(colour.slice(1, 3), 16),
  parseInt(colour.slice(3, 5), 16),
  parseInt(colour.slice(5, 7), 16),
];
const lights = (colour: string): Triple => channels(colour).map((channel) => LINEAR[channel] ?? 0) as unknown as Triple;
const hex = (colour: Triple): string => `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
