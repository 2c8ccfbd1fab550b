(() => {
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    const number = Number(cell.dataset.sort ?? text.replace(/[,\s%]/g, ""));
    return { text, number, empty: text === "–" || text === "" };
  };
  const compare = (a, b, sign) => {
    if (a.empty !== b.empty) return a.empty ? 1 : -1;
    if (!Number.isNaN(a.number) && !Number.isNaN(b.number)) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text, undefined, { numeric: true });
  };
  for (const table of document.querySelectorAll("table[data-sorts]")) {
    const body = table.tBodies[0];
    if (body.rows.length < 4) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = "↕";
      button.setAttribute("aria-label", `Sort by ${head.textContent.trim()}`);
      head.append("\u00a0", button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
        for (const other of table.tHead.rows[0].cells) {
          other.removeAttribute("aria-sort");
          const mark = other.querySelector(".sort");
          if (mark) mark.textContent = "↕";
        }
        head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
        button.textContent = sign === 1 ? "↑" : "↓";
        const rows = [...body.rows].map((row) => [row, value(row, column)]);
        rows.sort((a, b) => compare(a[1], b[1], sign));
        body.append(...rows.map(([row]) => row));
      });
    });
  }
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const part of opened) part.open = true;
  });
  window.addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
})();
