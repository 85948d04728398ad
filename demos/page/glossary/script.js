// A term's meaning stays on the screen at its edges, and goes at Escape (WCAG 1.4.13), until the term is left.
(() => {
  const term = (event) => event.target.closest?.(".term");
  const show = (event) => {
    const tip = term(event)?.querySelector("[role=tooltip]");
    if (!tip) return;
    tip.style.left = "0";
    const zoom = tip.currentCSSZoom ?? 1;
    const over = tip.getBoundingClientRect().right - document.documentElement.clientWidth + 12;
    if (over > 0) tip.style.left = `${-over / zoom}px`;
  };
  document.addEventListener("mouseover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const open of document.querySelectorAll(".term:is(:hover, :focus-within)")) open.classList.add("shut");
  });
  for (const left of ["mouseout", "focusout"]) document.addEventListener(left, (event) => term(event)?.classList.remove("shut"));
})();
