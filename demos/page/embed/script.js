// This view in a frame of a course's page: its HTML, in a dialog that a button in the bar opens, beside Room; and in such a
// frame, the height that the view needs, posted to the page around it (assets/hosting/README.md).
(() => {
  const { made } = insideBert.page;
  const MARGIN = 16; // pixels below the view
  const LEAST = 400; // pixels: room for the bar and the tools that come with the mouse
  const LARGE = 1.35; // times the type, in presenter mode

  const bottom = () => Math.max(...[...document.querySelectorAll("#lessons .block, #lessons .row")].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().bottom));
  const height = () => Math.max(LEAST, Math.ceil(bottom() + scrollY + MARGIN));

  // ---- the HTML

  function html() {
    const link = new URL(location.href);
    link.searchParams.set("present", "1");
    link.hash = "";
    const tab = document.querySelector("#lesson-links [aria-current]")?.textContent.trim() ?? "";
    const frame = made("iframe", { src: link.href, title: tab ? `Inside BERT: ${tab}` : "Inside BERT", width: "100%", height: Math.round(height() * LARGE) });
    frame.setAttribute("style", "border: 0");
    frame.setAttribute("loading", "lazy");
    return frame.outerHTML;
  }

  const told = made("span");
  told.setAttribute("role", "status");
  const text = made("textarea", { readOnly: true, rows: 5, spellcheck: false });
  text.setAttribute("aria-labelledby", "embed-label");
  const copy = made("button", { type: "button", textContent: "Copy" });
  const close = made("button", { type: "button", textContent: "Close", onclick: () => dialog.close() });
  const dialog = made(
    "dialog",
    { id: "embed" },
    made("h2", { id: "embed-heading", textContent: "Embed this view" }),
    made("p", { id: "embed-label", textContent: "HTML for your course’s page. The frame shows this view in presenter mode." }),
    text,
    made("p", { className: "tools" }, copy, close, told),
  );
  dialog.setAttribute("aria-labelledby", "embed-heading");
  copy.onclick = async () => {
    text.select(); // where the browser lets no page write to the clipboard, Ctrl+C does
    const isCopied = await navigator.clipboard?.writeText(text.value).then(() => true, () => false);
    told.textContent = isCopied ? "Copied." : "The HTML is selected; copy it with Ctrl+C.";
  };
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // Escape closes this, and nothing else
  function open() {
    if (!dialog.isConnected) document.body.append(dialog);
    told.textContent = "";
    text.value = html();
    dialog.showModal();
  }
  const button = made("button", { id: "embed-button", type: "button", textContent: "Embed", onclick: open });
  button.setAttribute("aria-label", "Embed this view");
  button.setAttribute("aria-haspopup", "dialog");
  document.addEventListener("inside-bert-view", () => button.isConnected || document.getElementById("room-button")?.after(button));

  // ---- the height

  if (window.parent === window) return;
  let posted = 0;
  function post() {
    const now = height();
    if (Math.abs(now - posted) < 2) return;
    posted = now;
    window.parent.postMessage({ type: "inside-bert-height", height: now }, "*"); // a number, which says nothing of the reader
  }
  const sizes = new ResizeObserver(post);
  document.addEventListener("inside-bert-view", () => {
    for (const one of document.querySelectorAll("#lessons, #lessons .tabitem > .column")) sizes.observe(one);
    post();
  });
})();
