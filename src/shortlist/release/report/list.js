"use strict";
(() => {
  const table = document.querySelector("table.long");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const of = (kind) => (head) => head.classList.contains(kind); // r rank, s score, i interval
  const items = heads.filter((head) => !["r", "s", "i"].some((kind) => of(kind)(head)));
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const texts = rows.map((row) =>
    items.map((head) => plain(row.cells[head.cellIndex].textContent)).join(" "));

  const search = document.querySelector("#search");
  const said = document.querySelector("output");
  search.parentElement.hidden = false;
  search.addEventListener("input", () => {
    const wanted = plain(search.value).trim();
    let shown = 0;
    rows.forEach((row, at) => {
      row.hidden = !texts[at].includes(wanted);
      shown += !row.hidden;
    });
    said.value = wanted ? `${shown} of ${rows.length} rows` : "";
  });

  const words = new Intl.Collator(undefined, { numeric: true });
  const number = (text) => parseFloat(text.replaceAll(",", ""));
  heads.forEach((head, column) => {
    if (of("i")(head)) return; // in the order of its score
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const cells = new Map(rows.map((row) => [row, row.cells[column].textContent]));
    const order = of("n")(head)
      ? (a, b) => number(cells.get(a)) - number(cells.get(b))
      : (a, b) => words.compare(cells.get(a), cells.get(b));
    button.addEventListener("click", () => {
      const turn = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
      body.append(...[...rows].sort((a, b) => turn * order(a, b)));
    });
  });
})();
