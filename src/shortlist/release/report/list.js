"use strict";
(() => {
  const table = document.querySelector("table.long");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = rows.map((row) =>
    [...row.cells].slice(1, 1 + Number(table.dataset.items))
      .map((cell) => cell.textContent.normalize("NFKC").toLowerCase()).join(" "));

  const search = document.querySelector("#search");
  const said = document.querySelector("output");
  search.parentElement.hidden = false;
  search.addEventListener("input", () => {
    const wanted = search.value.normalize("NFKC").toLowerCase().trim();
    let shown = 0;
    rows.forEach((row, at) => {
      row.hidden = !texts[at].includes(wanted);
      shown += !row.hidden;
    });
    said.value = wanted ? `${shown} of ${rows.length} rows` : "";
  });

  const words = new Intl.Collator(undefined, { numeric: true });
  const number = (text) => parseFloat(text.replaceAll(",", ""));
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.classList.contains("i")) return; // in the order of its score
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const cells = new Map(rows.map((row) => [row, row.cells[column].textContent]));
    const order = head.classList.contains("n")
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
