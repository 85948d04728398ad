// A table: a click on a column's head sorts by it, a second click the other way round.
// Runs once per gr.HTML as its js_on_load (`element` is that component).
element.addEventListener("click", (event) => {
  /** @type {HTMLTableCellElement} */
  const head = event.target.closest?.("thead th");
  if (!head) return;
  const isWord = head.classList.contains("words");
  const down = head.ariaSort ? head.ariaSort === "ascending" : !isWord; // numbers: the largest first
  for (const other of head.parentElement.children) other.ariaSort = null;
  head.ariaSort = down ? "descending" : "ascending";
  const said = (row) => row.children[head.cellIndex].textContent.trim().replace(/(?<=\d),(?=\d{3})/g, ""); // 1,000
  const isEmpty = (row) => said(row) === "–";
  const body = element.querySelector("tbody");
  const inOrder = [...body.rows].sort(
    (one, other) => Number(isEmpty(one)) - Number(isEmpty(other)) || (down ? -1 : 1) * said(one).localeCompare(said(other), "en", { numeric: true }),
  );
  body.append(...inOrder);
});
