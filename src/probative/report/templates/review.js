(() => {
  const queries = [...document.querySelectorAll("article.query")];
  const criterion = document.getElementById("criterion");
  const state = document.getElementById("state");
  const shown = document.getElementById("shown");
  let query = null;
  let mark = null;
  const visible = () => queries.filter((one) => !one.hidden);
  const point = (before, after) => {
    before?.classList.remove("current");
    after.classList.add("current");
    after.focus({ preventScroll: true });
    after.scrollIntoView({ block: after.matches("mark") ? "center" : "start" });
    return after;
  };
  const step = (list, from, by) => {
    const place = list.indexOf(from);
    return list[place === -1 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, place + by))];
  };
  const goQuery = (by) => {
    const next = step(visible(), query, by);
    if (!next) return;
    query = point(query, next);
    mark?.classList.remove("current");
    mark = null;
  };
  const goMark = (by) => {
    const all = visible().flatMap((one) => [...one.querySelectorAll("mark")]);
    let from = mark;
    if (!from && query) {
      const inside = all.findIndex((one) => query.contains(one));
      if (inside !== -1) from = by > 0 ? all[inside - 1] ?? null : all[inside];
    }
    const next = step(all, from, by);
    if (!next) return;
    query?.classList.remove("current");
    query = next.closest("article");
    query.classList.add("current");
    mark = point(mark, next);
  };
  const filter = () => {
    for (const one of queries) {
      one.hidden = (criterion.value !== "" && one.dataset.criterion !== criterion.value)
        || (state.value !== "" && one.dataset.state !== state.value);
    }
    if (query?.hidden) { query.classList.remove("current"); query = null; }
    if (mark?.closest("article").hidden) { mark.classList.remove("current"); mark = null; }
    const left = visible().length;
    shown.textContent = `${left} ${left === 1 ? "query" : "queries"}`;
  };
  criterion.addEventListener("change", filter);
  state.addEventListener("change", filter);
  const keys = { j: () => goQuery(1), k: () => goQuery(-1), n: () => goMark(1), p: () => goMark(-1) };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input, textarea")) return;
    keys[event.key]?.();
  });
  document.querySelector(".bar").hidden = false;
  filter();
})();
