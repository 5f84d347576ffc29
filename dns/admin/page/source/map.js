// The map of the places. It is loaded after the rest of the page.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { geoEqualEarth, geoGraticule10, geoPath } from "d3-geo";
import { feature, mesh } from "topojson-client";
import world from "world-atlas/countries-110m.json";
import { crowd, nameMarks } from "./marks.js";
import { linkTo } from "./route.js";
import { colourOf, html, Mark, shapeOf } from "./ui.js";
import { grave, many, percent, tally } from "./words.js";

const flat = 0.5; // the height of the map for its width
const edge = 0.1; // of the width, around the places, when the map is fitted to them
const closest = 9; // times the scale of the whole world: the outlines are too coarse for more
const land = feature(world, world.objects.land);
const borders = mesh(world, world.objects.countries, (a, b) => a !== b);

// Map shows the places by where they are, how they stand, what they are given and which partners they have.
export function Map({ places, partners }) {
  const [whole, setWhole] = useState(false);
  const box = useRef(null);
  const wide = useWidth(box);
  const tall = Math.round(wide * flat);
  const located = places.filter((p) => p.location);
  const where = located.map((p) => p.location.join(" ")).join(",");
  const ground = useMemo(() => groundOf(located, whole, wide, tall), [where, whole, wide]);
  const marks = nameMarks(crowd(marksOf(located, partners, ground.at)), wide, tall);
  const lost = places.length - located.length;
  return html`<div class="map" ref=${box}>
    <svg viewBox="0 0 ${wide} ${tall}" role="group" aria-label="map of the places">
      <path class="sea" d=${ground.sea} /><path class="grid" d=${ground.grid} />
      <path class="land" d=${ground.land} /><path class="borders" d=${ground.borders} />
      ${marks.map((m) => html`<${Marker} key=${m.id} mark=${m} />`)}
    </svg>
    <div class="legend">
      ${grave.filter((g) => places.some((p) => p.standing === g)).map((g) => html`<${Mark} key=${g} standing=${g} />`)}
      <span class="dim">a shape grows with its share of answers${partners.length > 0 && "; ⇄ is a partner’s site"}${lost > 0 && `; ${many(lost, "place")} without a location`}</span>
      <button type="button" aria-pressed=${whole} onClick=${() => setWhole(!whole)}>whole world</button>
    </div>
  </div>`;
}

// useWidth gives the width of an element in pixels, so that the names on the map have the size of other text on each screen.
function useWidth(box) {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const fit = new ResizeObserver(([seen]) => setWidth(Math.max(240, Math.round(seen.contentRect.width))));
    fit.observe(box.current);
    return () => fit.disconnect();
  }, []);
  return width;
}

// groundOf draws the world: all of it, or what lies around the places.
function groundOf(places, whole, wide, tall) {
  const projection = geoEqualEarth();
  const points = { type: "MultiPoint", coordinates: places.map((p) => [p.location[1], p.location[0]]) };
  projection.fitExtent([[4, 4], [wide - 4, tall - 4]], { type: "Sphere" });
  const least = projection.scale();
  if (!whole && places.length > 0) {
    projection.rotate([-middle(points.coordinates.map(([east]) => east)), 0]);
    projection.fitExtent([[edge * wide, edge * wide], [(1 - edge) * wide, tall - edge * wide]], points);
    const scale = Math.max(least, Math.min(projection.scale() || Infinity, least * closest));
    const centre = [0, 1].map((i) => middleOf(points.coordinates.map((c) => projection(c)[i])));
    const pivot = projection.invert(centre);
    projection.scale(scale).translate([0, 0]);
    const [x, y] = projection(pivot);
    projection.translate([wide / 2 - x, tall / 2 - y]);
  }
  projection.clipExtent([[0, 0], [wide, tall]]);
  const path = geoPath(projection).digits(1);
  return {
    at: (p) => projection([p.location[1], p.location[0]]),
    sea: path({ type: "Sphere" }), grid: path(geoGraticule10()), land: path(land), borders: path(borders),
  };
}

function middleOf(numbers) {
  return (Math.min(...numbers) + Math.max(...numbers)) / 2;
}

// middle gives the meridian opposite the widest gap between the longitudes, so that the map is cut where nobody is.
function middle(longitudes) {
  const sorted = longitudes.slice().sort((a, b) => a - b);
  let gap = sorted[0] + 360 - sorted.at(-1);
  let end = sorted[0];
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i] - sorted[i - 1] > gap) [gap, end] = [sorted[i] - sorted[i - 1], sorted[i]];
  }
  return end + (360 - gap) / 2;
}

// marksOf makes a mark of each place.
function marksOf(places, partners, at) {
  return places.map((p) => {
    const of = partners.filter((partner) => partner.site === p.place);
    const down = of.some((partner) => partner.peers.some((peer) => peer.state !== "established"));
    const [x, y] = at(p) ?? [-100, -100];
    return {
      id: p.place, x, y, size: 5 + 11 * Math.sqrt(p.share), standing: p.standing, href: linkTo("places", p.place),
      name: `${p.place} ${percent(p.share)}`,
      second: of.map((partner) => "⇄ " + partner.partner).join(" ") + (down ? " ✕" : ""),
      words: [`${p.place}: ${tally(p.services)}`, `${percent(p.share)} of answers`,
        of.length > 0 && `site of ${of.map((partner) => partner.partner).join(", ")}${down ? ", a session is down" : ""}`].filter(Boolean).join("; "),
    };
  });
}

// Marker is a place, or a crowd of them that is too close together to be drawn one by one.
function Marker({ mark: m }) {
  const scale = m.size / 6;
  return html`<a href=${m.href} class="marker ${colourOf(m.standing)}" aria-label=${m.words}>
    <title>${m.words}</title>
    ${m.from && html`<line class="leader" x1=${m.from[0]} y1=${m.from[1]} x2=${m.x} y2=${m.y} />`}
    <circle class="halo" cx=${m.x} cy=${m.y} r=${m.size + 4} />
    <g class="shape" transform="translate(${m.x - m.size} ${m.y - m.size}) scale(${scale})">${shapeOf(m.standing)}</g>
    ${m.label && html`<text x=${m.label.x} y=${m.label.y} text-anchor=${m.label.anchor}>${m.name}
      ${m.second && html`<tspan class="second" x=${m.label.x} dy="1.15em">${m.second}</tspan>`}</text>`}
  </a>`;
}
