// A view in a separate file: shows the file's data, with a switch between the views that it holds.
(() => {
  const given = JSON.parse(document.getElementById("given").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const $id = (id) => document.getElementById(id);
  let view = given.message.view;

  function wear() {
    const colours = Object.entries(given.palette[dark.matches ? "dark" : "light"]);
    frame.wear({ dark: dark.matches, colours: Object.fromEntries(colours.map(([name, colour]) => [`--${name}`, colour])) });
  }

  function show(name, at = {}) {
    view = name;
    for (const button of $id("views").children) button.setAttribute("aria-pressed", button.value === view);
    $id("said").textContent = given.said[view].join(" ");
    frame.receive({ ...given.message, ...at, view });
  }

  document.title = $id("sentence").textContent = given.sentence;
  $id("model").textContent = given.model;
  $id("measure").textContent = given.measure;
  for (const [name, title] of Object.entries(given.views)) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", value: name, textContent: title });
    button.addEventListener("click", () => show(name, frame.at()));
    $id("views").append(button);
  }
  dark.addEventListener("change", wear);
  wear();
  show(view);
})();
