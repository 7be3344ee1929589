// Reads what regard sends as a safetensors file: a record as JSON, and arrays that are decoded only when
// asked for.

const DTYPES = { F16: Uint16Array, F32: Float32Array };

// A look, a way or a picture of positions: the fields of its record, and
//   array(name) → {shape, data: Float32Array}     at(name, i, j, …) → number     has(name), names
export function readLook(buffer) {
  const { header, start } = readHeader(buffer);
  const { __metadata__: said = {}, ...entries } = header;
  const record = JSON.parse(said.look ?? Object.values(said)[0] ?? "{}");
  return withArrays(record, entries, (name) => decode(buffer, start, entries[name]));
}

// The same from the JSON form, where arrays are nested lists under "arrays".
export function fromJson(given) {
  const { arrays = {}, ...record } = given;
  return withArrays(record, arrays, (name) => {
    const shape = shapeOf(arrays[name]);
    return { shape, data: Float32Array.from(shape.length > 1 ? arrays[name].flat(Infinity) : arrays[name]) };
  });
}

function withArrays(record, entries, read) {
  const decoded = new Map();
  const array = (name) => {
    if (!Object.hasOwn(entries, name)) throw new Error(`There is no array ${name} here.`);
    if (!decoded.has(name)) decoded.set(name, read(name));
    return decoded.get(name);
  };
  const at = (name, ...indices) => {
    const { shape, data } = array(name);
    return data[indices.reduce((place, index, axis) => place * shape[axis] + index, 0)];
  };
  const names = Object.keys(entries);
  return { ...record, array, at, names, has: (name) => Object.hasOwn(entries, name) };
}

function readHeader(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const text = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
  return { header: JSON.parse(text), start: 8 + length };
}

function decode(buffer, start, { dtype, shape, data_offsets: [from, to] }) {
  const Type = DTYPES[dtype];
  if (!Type) throw new Error(`This page does not read arrays of type ${dtype}.`);
  const place = start + from;
  // A typed array must begin at a multiple of its width; where the file does not, the part is copied.
  const aligned = place % Type.BYTES_PER_ELEMENT === 0;
  const raw = aligned
    ? new Type(buffer, place, (to - from) / Type.BYTES_PER_ELEMENT)
    : new Type(buffer.slice(place, start + to));
  return { shape, data: dtype === "F16" ? fromHalf(raw) : raw };
}

let halves = null;

// Half precision has only 65,536 numbers, so a table knows them all: one look-up a number.
function fromHalf(raw) {
  halves ??= Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
  const data = new Float32Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) data[i] = halves[raw[i]];
  return data;
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function shapeOf(nested) {
  const shape = [];
  for (let inner = nested; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}
