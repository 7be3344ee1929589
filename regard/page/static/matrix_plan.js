// Where everything of a matrix stands: the room that it has, and which of its cells are seen at what size.

import { shorten, textWidth, TILT } from "regard/matrix_words.js";

const READABLE = 14; // pixels of the smallest cell beside which a word can be read
const LARGEST = 40; // of a cell that nobody has enlarged
const ENLARGED = 72; // of one that somebody has
const SMALLEST_LABELLED = 10; // narrower cells have no room for a word; then only the lit words are written
const MOST_HIGH = 900; // pixels of a map that is shown whole
const PART_HIGH = [260, 720]; // and of one that is not, at least and at most: it should fit the window
const EDGE = 4; // pixels at the right
const OVERVIEW = 190; // pixels that the whole takes beside a part
const WIDE = 520; // pixels from which on the whole has room beside it

// The box of the cells, which zooming never changes: `base` is the side of a cell at zoom 1, `least` the zoom
// that shows all, `largest` the other end. Cells take the room that there is, within what looks right; where
// they would become too small to read, the box shows a part of them.
export function layOut(rows, columns, { size, rowHeight, rowMarks }, room, windowHeight) {
  const widest = (words) => Math.max(0, ...words.map((word) => textWidth(shorten(word))));
  const beside = Math.ceil(widest(rows)) + 12;
  const top = Math.ceil(widest(columns) * Math.sin((-TILT * Math.PI) / 180)) + 18;
  const counts = { rows: Math.max(rows.length, 1), columns: Math.max(columns.length, 1) };
  const fitting = (over) => Math.floor((room - beside - over - EDGE) / counts.columns);
  const low = rowHeight ? Infinity : Math.floor(MOST_HIGH / counts.rows);
  const cell = (over) => size ?? within(Math.min(fitting(over), low), READABLE, LARGEST);
  const ends = overhang(columns, cell(0));
  const base = cell(ends);
  const down = rowHeight ?? base;
  const whole = base * counts.columns + beside + ends + EDGE <= room && down * counts.rows <= MOST_HIGH;
  // In a narrow room words are cut rather than the map.
  const left = whole ? beside : Math.min(beside, Math.max(Math.floor(0.4 * room), 40));
  const over = whole ? ends : Math.min(overhang(columns, base, true), Math.floor(0.2 * room));
  const width = whole ? base * counts.columns : widthOfPart(room - left - over - EDGE, base, counts.columns);
  const part = within(0.7 * windowHeight, ...PART_HIGH);
  const height = whole ? down * counts.rows : down * Math.max(Math.min(counts.rows, Math.floor(part / down)), 1);
  const least = Math.min(1, width / (base * counts.columns), height / (down * counts.rows));
  return {
    left, top, over, base, ratio: down / base, box: { width, height }, least,
    counts: { rows: rows.length, columns: columns.length },
    largest: Math.max(1, ENLARGED / base), rowMarks, rowHeight,
  };
}

function widthOfPart(room, base, count) {
  const beside = room > WIDE ? room - OVERVIEW : room;
  return base * Math.max(Math.min(count, Math.floor(beside / base)), 1);
}

// How far the tilted words reach beyond the last column; `anywhere`: whichever column is the last one seen.
function overhang(columns, cell, anywhere = false) {
  const across = Math.cos((TILT * Math.PI) / 180);
  const room = (j) => ((anywhere ? 1 : columns.length - j) - 0.6) * cell;
  return Math.ceil(Math.max(0, ...columns.map((word, j) => across * textWidth(shorten(word)) - room(j))));
}

// Whether a map needs all the room across that there is, by its words alone: what depended on the room would
// change the room.
export function isLarge(columns, size) {
  return columns.length * (size ?? READABLE) > WIDE - 100;
}

// What is seen at a zoom from a first row and column on, kept within the map.
export function planOf(layout, wanted) {
  const { left, top, over, base, ratio, counts, box, least, largest, rowMarks, rowHeight } = layout;
  const zoom = within(wanted.zoom, least, largest);
  const fine = base * zoom;
  const across = fine >= 8 ? Math.round(fine) : fine;
  const down = ratio === 1 ? across : across * ratio;
  const fits = (room, cell, count) => within(Math.floor(room / cell + 0.01), Math.min(count, 1), count);
  const [columnCount, rowCount] = [fits(box.width, across, counts.columns), fits(box.height, down, counts.rows)];
  const row = within(Math.round(wanted.row), 0, counts.rows - rowCount);
  const column = within(Math.round(wanted.column), 0, counts.columns - columnCount);
  const rowsSeen = Array.from({ length: rowCount }, (_, i) => row + i);
  const columnsSeen = Array.from({ length: columnCount }, (_, j) => column + j);
  const marked = rowHeight && down < SMALLEST_LABELLED ? rowMarks ?? [] : null;
  const shows = (i, j) => (i === null || (i >= row && i < row + rowCount))
    && (j === null || (j >= column && j < column + columnCount));
  const moved = (place, first, count) => {
    if (place === null || place === undefined) return first;
    return place < first ? place : place >= first + count ? place - count + 1 : first;
  };
  return {
    layout, left, top, across, down, view: { zoom, row, column }, seen: { row, column, rowCount, columnCount },
    whole: rowCount === counts.rows && columnCount === counts.columns, shows,
    area: { x: left, y: top, width: columnCount * across, height: rowCount * down },
    width: left + box.width + over + EDGE, height: top + box.height + 2,
    font: Math.min(13, Math.max(9.5, across - 3)),
    rowWords: marked?.filter((i) => shows(i, null)) ?? (down >= SMALLEST_LABELLED ? rowsSeen : []),
    columnWords: across >= SMALLEST_LABELLED ? columnsSeen : [],
    gap: gapOf(Math.min(across, down)),
    x: (j) => left + (j - column) * across,
    y: (i) => top + (i - row) * down,
    viewWith: (i, j) => ({ row: moved(i, row, rowCount), column: moved(j, column, columnCount) }),
  };
}

// Between cells, in pixels.
function gapOf(least) {
  return least > 16 ? 2 : least > 8 ? 1 : 0;
}

export function within(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
