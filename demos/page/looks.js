// The reader's settings of the page's look: large type, light or dark.
(() => {
  const { remember, remembered } = insideBert.kept;
  const before = remembered();
  let wantsDark; // undefined: as gradio and the system say
  if (before.large) document.documentElement.classList.add("large-type");
  if (!new URLSearchParams(location.search).has("__theme")) wantsDark = before.dark;

  // gradio sets its own class while it mounts; the reader's earlier choice here wins
  function insist() {
    if (wantsDark !== undefined && document.body.classList.contains("dark") !== wantsDark) {
      document.body.classList.toggle("dark", wantsDark);
    }
  }
  function watch() {
    new MutationObserver(insist).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    insist();
  }
  if (document.body) watch();
  else document.addEventListener("DOMContentLoaded", watch);

  insideBert.looks = {
    largeType(on = !document.documentElement.classList.contains("large-type")) {
      document.documentElement.classList.toggle("large-type", on);
      remember({ large: on });
      window.dispatchEvent(new Event("resize")); // Plotly and the frames measure again
      return on;
    },

    dark(on = !document.body.classList.contains("dark")) {
      wantsDark = on;
      document.body.classList.toggle("dark", on);
      remember({ dark: on });
      return on;
    },
  };
})();
