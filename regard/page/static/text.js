// Numbers and times as a person reads them.

// A share: "0.42", but "0.003" where two digits would say nothing.
export function share(value) {
  if (!Number.isFinite(value)) return "–";
  return value !== 0 && Math.abs(value) < 0.01 ? value.toPrecision(1) : value.toFixed(2);
}

// Any figure, with about four digits and thin spaces between thousands.
export function figure(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return signed(value.toLocaleString("en").replaceAll(",", "\u2009"));
  const size = Math.abs(value);
  if (size >= 100) return figure(Math.round(value));
  return signed(size >= 10 ? value.toFixed(1) : value.toPrecision(size < 0.001 ? 2 : 3));
}

// A real minus sign.
export function signed(text) {
  return String(text).replace(/^-(?=[\d.]*[1-9])/, "−").replace(/^-/, ""); // what rounds to zero has no sign
}

// "3 minutes ago", from seconds since 1970.
export function ago(when, now = Date.now() / 1000) {
  const seconds = Math.max(0, now - when);
  if (seconds < 45) return "just now";
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"]];
  const [size, name] = units.find(([size]) => seconds >= size) ?? units.at(-1);
  const count = Math.max(1, Math.round(seconds / size));
  return `${count} ${name}${count === 1 ? "" : "s"} ago`;
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

// A metric as people write it.
export function metricName(name) {
  return { bleu: "BLEU", chrf: "chrF", mrr: "MRR", recall_at_1: "recall@1" }[name] ?? name.replaceAll("_", " ");
}

// What happened between two texts, word by word: [{word, kind: "same" | "gone" | "new"}], by longest common
// words.
export function differences(before, after) {
  const [a, b] = [before, after].map((text) => text.split(/\s+/).filter(Boolean));
  const common = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ word: a[i], kind: "same" });
      [i, j] = [i + 1, j + 1];
    } else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      found.push({ word: a[i], kind: "gone" });
      i += 1;
    } else {
      found.push({ word: b[j], kind: "new" });
      j += 1;
    }
  }
  return found;
}
