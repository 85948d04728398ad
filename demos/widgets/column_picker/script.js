// The column picker: a role that is chosen for one column is taken from the column that had it; "more of" a text is added to it.
// For another sheet of a workbook, the server finds the columns again.
// Runs once per gr.HTML as its js_on_load (`element` is that component).
let asked; // what the reader chose and no answer shows yet
let removed = false; // whether HTML is taken out of the texts

const sheet = () => element.querySelector("select[data-sheet]");
const menus = () => [...element.querySelectorAll("select[data-column]")];

const ofSheet = () => (sheet()?.value ? [`sheet=${sheet().value}`] : []);

function choice() {
  const used = menus().filter((menu) => menu.value);
  const [more, first] = [true, false].map((plus) => used.filter((menu) => menu.value.startsWith("+") === plus));
  const columns = [...first, ...more].map((menu) => `${menu.value.replace("+", "")}=${menu.dataset.column}`);
  return [...ofSheet(), ...columns, ...(removed ? ["html=removed"] : [])].join(",");
}

element.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-html], [data-group], [data-task]");
  if (!button) return;
  const { html, group, task } = button.dataset;
  if (task) {
    insideBert.carried = choice(); // by their other names, these columns are the other task's too
    element.closest('[id^="lesson-"]').querySelector(`input[type="radio"][value="${task}"]:not(:checked)`)?.click();
    return;
  }
  if (html !== undefined) removed = html !== "";
  else for (const menu of menus()) if (menu.dataset.column === group) menu.value = "group";
  asked = choice();
  trigger("select");
});

element.addEventListener("change", (event) => {
  if (event.target === sheet()) {
    for (const menu of menus()) menu.value = "";
    asked = choice();
    trigger("select");
    return;
  }
  const menu = event.target.closest?.("select[data-column]");
  if (!menu) return;
  if (menu.value && !menu.value.startsWith("+")) {
    for (const other of menus()) if (other !== menu && other.value === menu.value) other.value = "";
  }
  asked = choice();
  trigger("select");
});

// An answer to an earlier choice does not undo a later one, and the keyboard stays on its menu.
let focused = "";
const addressOf = (menu) => (menu === sheet() ? "," : menu.dataset.column || ""); // no column's address has a comma
element.addEventListener("focusin", (event) => (focused = addressOf(event.target)));
element.addEventListener("focusout", (event) => {
  if (event.target.isConnected || event.relatedTarget) focused = "";
});
watch("value", () => {
  const drawnFor = element.querySelector("[data-for]")?.dataset.for;
  if (asked !== undefined && drawnFor !== asked) {
    const seen = new Set();
    const pairs = asked.split(",").map((pair) => pair.split("="));
    const wanted = pairs.find(([role]) => role === "sheet")?.[1];
    if (wanted !== undefined && sheet()) sheet().value = wanted;
    const roles = new Map(
      pairs.filter(([role]) => role !== "sheet" && role !== "html").map(([role, column]) => {
        const name = seen.has(role) ? `+${role}` : role;
        seen.add(role);
        return [column, name];
      }),
    );
    for (const menu of menus()) menu.value = roles.get(menu.dataset.column) ?? "";
  } else {
    asked = undefined;
    // A menu that stays on the page keeps what was chosen in it, and not what the answer selects.
    for (const menu of [...menus(), sheet()]) if (menu) menu.value = menu.querySelector("option[selected]")?.value ?? "";
    removed = Boolean(element.querySelector("[data-removed]"));
  }
  const menu = focused === "," ? sheet() : menus().find((one) => one.dataset.column === focused);
  if (focused && menu && !element.contains(document.activeElement)) menu.focus();
});

insideBert.picked[props.name] = choice;
