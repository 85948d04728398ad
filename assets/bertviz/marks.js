// Adds to bertviz's drawing: a bar in each word's hue, numbers on the heads' squares, and access by keyboard.

// The head view's coloured squares, the last group of its picture: full colour is on, pale is off.
const squares = (() => {
  const OFF = 0.6; // how much of the paper there is in what is off
  const all = () => [...document.querySelectorAll(".head #vis > svg > g:last-child > rect")];
  const isOn = (square, head) => square.getAttribute("fill") === d3.schemeCategory10[head % d3.schemeCategory10.length];
  const on = () => all().flatMap((square, head) => (isOn(square, head) ? [head] : []));

  // A head that is off keeps its hue: bertviz takes more from the saturation than some colours have.
  function fade(square, head) {
    const paper = getComputedStyle(document.documentElement).backgroundColor;
    square.setAttribute("fill", d3.interpolateRgb(d3.schemeCategory10[head % d3.schemeCategory10.length], paper)(OFF));
  }

  // Heads have numbers too, in the ink with more contrast to the head's colour.
  function number() {
    all().forEach((square, head) => {
      if (!isOn(square, head)) fade(square, head);
      const label = square.parentNode.querySelectorAll("text")[head] ?? square.parentNode.appendChild(marks.shape("text", {
        x: +square.getAttribute("x") + 10, y: 14.5, "text-anchor": "middle", "font-size": "13px", "font-weight": "bold", class: "number",
      }));
      const { r, g, b } = d3.rgb(square.getAttribute("fill"));
      label.textContent = head + 1; // as the page counts
      label.style.fill = 0.299 * r + 0.587 * g + 0.114 * b > 125 ? "#000" : "#fff";
      square.setAttribute("role", "checkbox");
      square.setAttribute("aria-label", `head ${head + 1}`);
      square.setAttribute("aria-checked", isOn(square, head));
    });
  }

  // These heads on and the others off, null for all, as if bertviz's squares had been pressed: a double-click leaves one
  // on, the next one all. Nothing bubbles, for nobody chose in here.
  function show(heads) {
    const squares = all();
    const wanted = (heads ?? squares.map((_, head) => head)).filter((head) => head < squares.length);
    if (!wanted.length || on().join() === wanted.join()) return;
    const press = (head, kind) => squares[head].dispatchEvent(new MouseEvent(kind));
    const [first, ...more] = wanted;
    if (on().join() !== String(first)) press(first, "dblclick");
    if (wanted.length === squares.length) press(first, "dblclick");
    else more.forEach((head) => press(head, "click"));
    number();
  }

  // As `show` takes them
  const said = () => (on().length === all().length ? null : on());

  return { all, on, number, show, said };
})();

const marks = (() => {
  function shape(tag, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  const sides = (root) => [...root.querySelectorAll("#left, #right, #leftText, #rightText")];
  const tokens = (side) => [...side.querySelectorAll("text")].map((text) => text.parentNode);

  // Beside each token a bar in its word's hue, as in the other lessons; special tokens are grey and slanted.
  function hue(group, hue, special) {
    const text = group.querySelector("text");
    if (special) text.classList.add("special");
    const left = text.style.textAnchor === "end" ? 2 : -5;
    const bar = shape("rect", {
      x: +text.getAttribute("x") + +text.getAttribute("dx") + left, y: +text.getAttribute("y") + 3, width: 3, height: 16, class: "hue",
    });
    bar.style.fill = hue;
    group.prepend(bar);
  }

  // One stop for the Tab key, arrows between the rest (`columns` to a row), Enter to press, Shift+Enter to double-click.
  function reachable(elements, columns, label) {
    elements.forEach((element, index) => {
      element.setAttribute("tabindex", index ? -1 : 0);
      if (!element.hasAttribute("role")) element.setAttribute("role", columns > 1 ? "button" : "img");
      element.setAttribute("aria-label", label(index));
      element.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
        const next = elements[step ? index + step : event.key === "Home" ? 0 : event.key === "End" ? elements.length - 1 : -1];
        if (event.key === "Enter" || event.key === " ") {
          element.dispatchEvent(new MouseEvent(event.shiftKey ? "dblclick" : "click", { bubbles: true }));
        } else if (next) {
          element.setAttribute("tabindex", -1);
          next.setAttribute("tabindex", 0);
          next.focus();
        } else return;
        event.preventDefault();
      });
    });
  }

  // bertviz listens only to the mouse, so focus is passed on as a mouse that enters, and blur as one that leaves.
  function hovered(group, side) {
    group.addEventListener("focus", () => group.dispatchEvent(new MouseEvent("mouseover")));
    group.addEventListener("blur", () => [group, side].forEach((element) => element.dispatchEvent(new MouseEvent("mouseleave"))));
  }

  function sideOf(side, { first }, message) {
    const groups = tokens(side);
    groups.forEach((group, index) => {
      hue(group, message.hues[first + index], message.special[first + index]);
      hovered(group, side);
    });
    if (side.id !== "rightText") reachable(groups, 1, (index) => `token ${first + index}: ${message.tokens[first + index]}`);
  }

  // `drawn` is what bertviz drew: its left_text and right_text, with the number of their first token
  function add(message, drawn) {
    const picture = document.querySelector("#vis > svg");
    if (message.view === "model") {
      const regions = [...picture.querySelectorAll(":scope > g > .attn_background ~ rect")];
      const heads = message.num_heads;
      reachable(regions, heads, (index) => `layer ${Math.floor(index / heads) + 1}, head ${(index % heads) + 1}`);
    } else {
      for (const side of sides(picture)) {
        const left = side.id.startsWith("left");
        sideOf(side, left ? drawn.left_text : drawn.right_text, left ? message : unpacked.read(message));
      }
      squares.number();
      reachable(squares.all(), 1, (index) => `head ${index + 1}`);
    }
  }

  return { add, shape };
})();
