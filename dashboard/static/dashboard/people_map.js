// The map of people: lines between the discs where the page has put these, one stop of Tab, arrow
// keys from disc to disc, and who is tied to whom.
"use strict";

(() => {
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const GAP = 12; // pixels, half of what is between two rows
  const STACKED = matchMedia("(max-width: 48rem)");
  const EDGE = 10; // pixels

  // The middle of a disc.
  function at(node) {
    const { left, top, width, height } = node.firstElementChild.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  }

  // From the user to a group, through the gap beside its row; down the left edge where the groups
  // lie below one another.
  function spoke(user, group, { left, top }) {
    if (STACKED.matches) {
      const [from, to] = [user, group].map((box) => box.top + box.height / 2 - top);
      return `${user.left - left},${from} ${EDGE},${from} ${EDGE},${to} ${group.left - left},${to}`;
    }
    const above = group.bottom < user.top;
    const edge = (above ? group.bottom : group.top) - top;
    const gap = edge + (above ? GAP : -GAP);
    const [from, to] = [user, group].map((box) => box.left + box.width / 2 - left);
    return `${from},${user.top + user.height / 2 - top} ${from},${gap} ${to},${gap} ${to},${edge}`;
  }

  function draw(map) {
    const here = map.querySelector(".ties:not(.spokes)").getBoundingClientRect();
    const { left, top } = here;
    const boxes = new Map([...map.querySelectorAll("[data-place]")].map((node) => [node.dataset.place, node.getBoundingClientRect()]));
    for (const line of map.querySelectorAll(".spoke")) line.setAttribute("points", spoke(boxes.get("you"), boxes.get(line.dataset.to), here));
    const places = new Map([...map.querySelectorAll("[data-node]")].map((node) => [node.dataset.node, at(node)]));
    for (const line of map.querySelectorAll("[data-ends]")) {
      line.dataset.ends.split(" ").forEach((end, place) => {
        line.setAttribute(`x${place + 1}`, places.get(end)[0] - left);
        line.setAttribute(`y${place + 1}`, places.get(end)[1] - top);
      });
    }
  }

  // The nearest one in this direction; what lies aside counts twice.
  function next(nodes, from, [right, down]) {
    const [x, y] = at(from);
    const far = (node) => {
      const [dx, dy] = [at(node)[0] - x, at(node)[1] - y];
      const along = dx * right + dy * down;
      return along > 1 ? along + 2 * Math.abs(dx * down + dy * right) : Infinity;
    };
    const best = nodes.reduce((one, other) => (far(other) < far(one) ? other : one), from);
    return best === from || far(best) === Infinity ? null : best;
  }

  function show(map, node) {
    map.classList.toggle("focused", Boolean(node));
    const near = new Set(node ? [node.dataset.node] : []);
    for (const line of map.querySelectorAll("[data-ends]")) {
      const ends = line.dataset.ends.split(" ");
      const here = Boolean(node) && ends.includes(node.dataset.node);
      line.classList.toggle("near", here);
      if (here) ends.forEach((end) => near.add(end));
    }
    for (const one of map.querySelectorAll("[data-node]")) one.classList.toggle("near", near.has(one.dataset.node));
  }

  function start() {
    for (const map of document.querySelectorAll("[data-map]:not([data-ready])")) {
      map.dataset.ready = "";
      new ResizeObserver(() => draw(map)).observe(map);
      const nodes = [...map.querySelectorAll("[data-node]")];
      nodes.forEach((node, place) => node.setAttribute("tabindex", place ? "-1" : "0"));
      for (const [event, off] of [["focusin", "focusout"], ["mouseover", "mouseout"]]) {
        map.addEventListener(event, ({ target }) => show(map, target.closest("[data-node]")));
        map.addEventListener(off, () => show(map, null));
      }
      map.addEventListener("keydown", (event) => {
        const from = event.target.closest("[data-node]");
        const to = from && WAYS[event.key] && next(nodes, from, WAYS[event.key]);
        if (!from || !WAYS[event.key]) return;
        event.preventDefault();
        if (!to) return;
        from.setAttribute("tabindex", "-1");
        to.setAttribute("tabindex", "0");
        to.focus();
      });
    }
  }

  start();
  document.addEventListener("htmx:afterSettle", start);
})();
