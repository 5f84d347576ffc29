// Where the marks of a map and their names stand, so that none covers another.
import { linkTo } from "./route.js";
import { grave, many } from "./words.js";

const apart = 20; // pixels between marks that can be told apart
const ringMost = 8; // marks that are spread around where they are; more become one mark
const letter = 8; // the width of a letter of a name
const line = 16; // the height of a line of it

// crowd spreads the marks that are too close together on a ring around where they are, with a line to it. When they are
// too many for that they become one mark, of their gravest standing.
export function crowd(marks) {
  const groups = [];
  for (const mark of marks) {
    const near = groups.find((g) => Math.hypot(g[0].x - mark.x, g[0].y - mark.y) < apart);
    if (near) near.push(mark);
    else groups.push([mark]);
  }
  return groups.flatMap((group) => {
    if (group.length === 1) return group;
    return group.length <= ringMost ? ring(group) : [together(group)];
  });
}

function ring(group) {
  const x = mean(group.map((m) => m.x));
  const y = mean(group.map((m) => m.y));
  const radius = Math.max(30, (group.length * (apart + 16)) / (2 * Math.PI));
  return group.map((m, i) => {
    const turn = (i / group.length - 0.25) * 2 * Math.PI;
    return { ...m, x: x + radius * Math.cos(turn), y: y + radius * Math.sin(turn), from: [x, y] };
  });
}

function together(group) {
  const standing = grave.find((g) => group.some((m) => m.standing === g));
  const named = many(group.length, "place");
  return {
    id: group.map((m) => m.id).join(" "), x: mean(group.map((m) => m.x)), y: mean(group.map((m) => m.y)), size: 14, standing,
    href: linkTo("places"), name: named, second: "", words: `${named} close together, the gravest standing is ${standing}: ${group.map((m) => m.id).join(", ")}`,
  };
}

function mean(numbers) {
  return numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
}

// nameMarks gives each mark the place of its name beside it; where there is none, the name stays away.
export function nameMarks(marks, wide, tall) {
  const taken = marks.map((m) => ({ left: m.x - m.size, right: m.x + m.size, top: m.y - m.size, bottom: m.y + m.size }));
  return marks.map((m) => {
    const width = Math.max(m.name.length, m.second.length) * letter;
    const lines = m.second ? 2 : 1;
    const amid = Math.max(width / 2 + 2, Math.min(m.x, wide - width / 2 - 2)); // a name above or below stays inside
    const label = [
      { anchor: "start", x: m.x + m.size + 7, y: m.y + 5, left: 0 },
      { anchor: "end", x: m.x - m.size - 7, y: m.y + 5, left: -width },
      { anchor: "middle", x: amid, y: m.y - m.size - 7 - (lines - 1) * line, left: -width / 2 },
      { anchor: "middle", x: amid, y: m.y + m.size + 17, left: -width / 2 },
    ].find((l) => {
      const box = { left: l.x + l.left, right: l.x + l.left + width, top: l.y - line + 4, bottom: l.y + 4 + (lines - 1) * line };
      const inside = box.left > 0 && box.right < wide && box.top > 0 && box.bottom < tall;
      if (!inside || taken.some((t) => t.left < box.right && box.left < t.right && t.top < box.bottom && box.top < t.bottom)) return false;
      taken.push(box);
      return true;
    });
    return { ...m, label };
  });
}
