// The page's half of the bridge to the bertviz frame: runs once when the component is mounted (gradio hands it
// `element`, `props`, `trigger` and `watch`). Values go down as messages; height, readiness and choices come up.
const NAMES = ["--paper", "--surface", "--ink", "--muted", "--line", "--accent", "--special", "--sans"];
const frame = element.querySelector("iframe");
// The page is served where the app is mounted, however deep a Space or proxy mounts it; the server's
// address for itself (gradio_config.root) is wrong behind a proxy that does not pass the host on.
const page = `/${window.gradio_config?.current_page || "/"}`;
const base = location.origin + location.pathname.replace(/\/+$/, "").replace(new RegExp(`${page}$`), "");
const file = (path) => `${base}${window.gradio_config?.api_prefix ?? "/gradio_api"}/file=${encodeURI(path)}`;
const state = { ready: false, choice: null, lines: null, head: null, heads: null, isHalfWritten: false, file: "bert-attention", asked: new Map() }; // asked: kind of picture -> its waiting callback

function theme() {
  const style = getComputedStyle(document.body);
  return {
    dark: document.body.classList.contains("dark"),
    colours: Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(name).trim()])),
  };
}

// The frame is sandboxed without an origin, so there is none to name: it is the window that is addressed.
const post = (said) => state.ready && frame.contentWindow?.postMessage({ bertviz: said }, "*");

// About as tall as the lines will be, in pixels: the text below does not jump when they are drawn.
const reserved = (tokens) => Math.min(1000, 34 * tokens) + 93;

function show() {
  if (!props.value) return;
  const message = JSON.parse(props.value);
  element.dataset.view = message.view;
  if (!frame.style.height && message.view === "head") frame.style.height = `${reserved(Math.max(message.tokens.length, message.columns?.tokens.length ?? 0))}px`;
  [state.head, state.heads] = [message.head, message.heads];
  state.file = message.file ?? "bert-attention";
  post({ message });
}

// The frame has no origin to fetch a font with: the page hands over its own.
async function font() {
  const { href, dataset } = document.querySelector('link[as="font"]');
  post({ font: { family: dataset.family, weight: dataset.weight, data: await (await fetch(href)).arrayBuffer() } });
}

function heard(event) {
  if (!element.isConnected) return window.removeEventListener("message", heard);
  if (event.source !== frame.contentWindow || !event.data?.bertviz) return;
  const said = event.data.bertviz;
  if (said.type === "ready") {
    state.ready = true;
    post({ theme: theme() });
    font();
    show();
  } else if (said.type === "height") {
    frame.style.height = `${Math.max(120, Number(said.height) || 0)}px`;
  } else if (said.type === "wide") {
    if (element.dataset.wide === String(Boolean(said.wide))) return;
    element.dataset.wide = String(Boolean(said.wide));
    requestAnimationFrame(() => window.dispatchEvent(new Event("resize"))); // the heatmap beside it has another width now
  } else if (said.type === "drawn") {
    frame.dataset.drawn = `${said.view} ${said.layer} ${said.head}`;
  } else if (said.type === "chose" && Number.isInteger(said.layer) && Number.isInteger(said.head)) {
    state.choice = said;
    trigger("select");
  } else if (said.type === "lines") {
    state.lines = said;
    trigger("input");
  } else if (said.type === "picture" && said.blob instanceof Blob) {
    const name = `${state.file}-${said.view}-layer${Number(said.layer) + 1}-head${Number(said.head) + 1}.${said.kind}`;
    if (state.asked.has(said.kind)) insideBert.page.save(said.blob, name);
    state.asked.get(said.kind)?.(name);
    state.asked.delete(said.kind);
  }
}

// The heads whose lines are drawn, null for all, as the lesson writes them down (demos/widgets/bertviz/messages.py), and back.
function written({ heads, head }) {
  if (!Array.isArray(heads)) return "all";
  return heads.join() === String(head) ? "" : heads.map(Number).join(", ");
}
function read(lines, head) {
  if (lines === "all") return null;
  const heads = lines.split(",").map(Number);
  return lines && heads.includes(head) ? heads : [head];
}

insideBert.attention = {
  // [layer, head, lines, held] as the page's controls have them -> as they were chosen in the frame. The page's sliders count
  // from 1, the frame and the lines from 0. A view that the frame only requests again, because it lacks it, is no choice.
  chosen([layer, head, lines, held]) {
    const { choice } = state;
    if (!choice || choice.again) return [layer, head, lines, choice ? "" : held];
    const place = [choice.layer + 1, choice.head + 1, written(choice), held];
    [state.head, state.heads] = [choice.head, choice.heads]; // the frame shows them already
    state.isHalfWritten = place[1] !== head && place[2] !== lines; // Gradio sets one control, then the other
    return place;
  },

  lines: () => written(state.lines),

  // A head (as the slider counts) or lines were chosen, wherever: the frame follows at once.
  show(number, lines) {
    if (state.isHalfWritten) return (state.isHalfWritten = false);
    const head = number - 1;
    const heads = read(lines, head);
    if (head === state.head && String(heads) === String(state.heads)) return;
    post({ head: (state.head = head), heads: (state.heads = heads) });
  },

  // Saves the frame's picture as a file on the reader's disk; `kind` is "svg" or "png". Resolves to the file's name.
  save(kind) {
    return new Promise((resolve) => {
      state.asked.set(kind, resolve);
      post({ export: kind });
    });
  },
};

// A browser may not know yet that a frame has come into sight, as after a turn of tabs on a busy machine: it gives a press
// on what is in the frame to this page, on the frame's element. The frame gets no event, unless this page passes it on.
frame.addEventListener("click", ({ clientX, clientY }) => {
  const { left, top, width, height } = frame.getBoundingClientRect();
  post({ press: [(clientX - left) / width, (clientY - top) / height] });
});

window.addEventListener("message", heard);
new MutationObserver(() => post({ theme: theme() })).observe(document.body, { attributes: true, attributeFilter: ["class"] });
watch("value", show);
show(); // the first view that was sent with the page
frame.src = `${file(props.page)}?views=${encodeURIComponent(`${file(props.views)}/`)}`;
