// Colour maps that are perceptually even, work for the colour-blind, and suit a light or a dark page.
//
// How they are even: colours are mixed in OKLab, whose distances follow the eye's. Lightness is exactly
// linear in the value (it falls from paper to deep blue on a light page, and rises from the dark card to pale
// blue-green on a dark one); only the tint, OKLab's a and b, runs smoothly through the anchors. So equal
// steps of the value look equally large, order survives in grey, and as the hues stay between teal and blue,
// nothing rests on telling red from green. The diverging map has two such arms of the same lightness, blue
// below and orange above zero: the pair that every common kind of colour blindness tells apart.

// [lightness at 0, lightness at 1], and tints [a, b] at even distances between.
const SEQUENTIAL = {
  light: {
    lightness: [0.985, 0.33],
    tints: [[-0.001, 0], [-0.05, -0.025], [-0.055, -0.085], [-0.028, -0.12], [0.0, -0.105]],
  },
  dark: {
    lightness: [0.245, 0.94],
    tints: [[0, -0.016], [-0.005, -0.085], [-0.045, -0.095], [-0.08, -0.045], [-0.055, 0.005]],
  },
};
const ARMS = {
  light: {
    lightness: [0.985, 0.42],
    below: [[0, 0], [-0.04, -0.06], [-0.035, -0.12]],
    above: [[0, 0], [0.045, 0.075], [0.085, 0.085]],
  },
  dark: {
    lightness: [0.26, 0.86],
    below: [[0, -0.014], [-0.035, -0.1], [-0.06, -0.065]],
    above: [[0, -0.014], [0.075, 0.085], [0.04, 0.09]],
  },
};

// Okabe and Ito's colours, for every eye.
export const CATEGORIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
const kept = new Map();

// The page's theme: what was chosen on the page, else what the system asks for.
export function theme() {
  return document.documentElement.dataset.theme ?? (wantsDark.matches ? "dark" : "light");
}

// Choose "light" or "dark", or null to follow the system again.
export function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  window.dispatchEvent(new Event("themechange"));
}

// Canvases do not change their colours by themselves: `f` is called when they should be drawn again.
export function onTheme(f, signal) {
  window.addEventListener("themechange", f, { signal });
  wantsDark.addEventListener("change", f, { signal });
}

// A weight from 0 to 1 as a CSS colour.
export function shade(value) {
  return css(shadeTable(), Math.round(255 * clamp(value, 0, 1)));
}

// The same as a wash behind words: at most so deep that the page's ink can still be read on it.
export function wash(value) {
  return shade(0.4 * clamp(value, 0, 1));
}

// A difference from -1 to 1 as a CSS colour: blue below zero, orange above.
export function diverging(value) {
  return css(divergingTable(), Math.round(127.5 + 127.5 * clamp(value, -1, 1)));
}

// 256 colours as red, green, blue, alpha, for canvases: entry i is shade(i / 255).
export function shadeTable() {
  return remember(
    "shade", ({ lightness, tints }) => (value) => oklab(lightness, value, tints, value), SEQUENTIAL,
  );
}

// 256 colours: entry i is diverging(i / 127.5 - 1).
export function divergingTable() {
  const arm = ({ lightness, below, above }) => (value) => {
    const far = Math.abs(2 * value - 1);
    return oklab(lightness, far, value < 0.5 ? below : above, far);
  };
  return remember("diverging", arm, ARMS);
}

function remember(name, colourAt, maps) {
  const key = `${name} ${theme()}`;
  if (!kept.has(key)) kept.set(key, table(colourAt(maps[theme()])));
  return kept.get(key);
}

function table(colourAt) {
  const colours = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i += 1) colours.set([...toRgb(colourAt(i / 255)), 255], 4 * i);
  return colours;
}

function css(colours, entry) {
  return `rgb(${colours[4 * entry]} ${colours[4 * entry + 1]} ${colours[4 * entry + 2]})`;
}

function oklab([from, to], value, tints, place) {
  return [
    from + (to - from) * value, spline(tints.map(([a]) => a), place), spline(tints.map(([, b]) => b), place),
  ];
}

// Catmull-Rom's curve through the points, so that a tint has no corners (a corner is seen as an edge).
function spline(points, place) {
  const last = points.length - 1;
  const left = Math.min(Math.floor(place * last), last - 1);
  const t = place * last - left;
  const [p0, p1, p2, p3] = [left - 1, left, left + 1, left + 2].map((i) => points[clamp(i, 0, last)]);
  const bend = 2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * p1 - p0 - 3 * p2 + p3);
  return p1 + 0.5 * t * (p2 - p0 + t * bend);
}

// OKLab to sRGB (B. Ottosson, 2020).
function toRgb([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((c) => 255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * Math.max(c, 0) ** (1 / 2.4) - 0.055));
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
