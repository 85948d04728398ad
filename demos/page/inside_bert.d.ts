// The names that the page's scripts share, each with its type, and the browser's own names as the scripts find them.
// demos/tsconfig.json says how the scripts are checked; tests/test_names.py counts the names in `InsideBert`.

interface InsideBert {
  /** bertviz's frame (assets/bertviz/bridge.js). */
  attention: {
    chosen([layer, head, lines, held]: any[]): (number | string)[];
    lines(): string;
    show(head: number, lines: string): void;
    save(kind: "svg" | "png"): Promise<string>;
  };
  /** The reader's answered questions (your_questions/boxes.js). */
  boxes: {
    readonly KEPT: string;
    all(): Card[];
    dueOn(card: Card): string;
    moved(card: Card | undefined, right: boolean | null, day: string): Pick<Card, "box" | "on">;
    today(): string;
    date(day: string): string;
    due(day?: string): Card[];
    answered(of: string, right: boolean | null, said: string): string;
    saw(of: string): void;
    forget(isMeant?: (card: Card) => boolean): boolean;
    asFile(): string;
    takeFile(text: string): number | undefined;
  };
  /** The columns that go with the reader to another task (demos/widgets/column_picker). */
  carried?: string;
  /** Cells in the colors of the moment's theme (demos/figures/cells.js). */
  cells: {
    ramp(name: string, count: number): Colour[];
    packed(colours: Colour[]): Uint32Array;
    legible(colour: Colour): string;
    paint(canvas: HTMLCanvasElement, data: Heads, bytes: Uint8Array, colours: Colour[], cell: number, gap: number): void;
  };
  /** The live curves (demos/widgets/live_curve/live.js). */
  curves: {
    readonly ASKING: number;
    smooth(points: Point[], smoothing: number): Point[];
    asker(
      element: Element,
      server: Server,
      kept: { run: string | null; last: { done?: boolean } },
      question: () => unknown[],
      take: (said: string) => void,
      pause?: () => number,
    ): () => Promise<void>;
  };
  /** The finder (finder/script.js). */
  finder: {
    open(): void;
    find(text: string): Promise<FinderEntry[]>;
  };
  /** The grids of heads by their ids, and what each shows first (demos/widgets/head_grid). */
  grids: { [id: string]: HeadGrid } & { looks: { [id: string]: object } };
  /** What this browser and this tab keep (kept.js). */
  kept: {
    readonly LONGEST_LINK: number;
    remember(changes: Remembered): void;
    remembered(): Remembered;
    isFirstVisit(): boolean;
    pageKey(before: Remembered): string;
    hold(store: string, key: string, value: unknown): void;
    held(store: string, key: string): any;
  };
  /** The bounds of controls (limits.js). */
  limits: {
    apply(of: [names: string[], ids: number[]], said: string, ...values: unknown[]): Promise<unknown[]>;
    applyFirst(components: GradioComponent[]): void;
  };
  /** The link and what it carries (link.js). */
  link: {
    /** Gradio's event for another view, which the bar sets (demos/page/bar.py). */
    arrive?(): void;
    /** Goes where a link leads within its view (lead.js). */
    lead?(lesson: string, part: string, leads: string[][]): void;
    loadAnew(): void;
    restore(first: { text: string; pair: string }, lesson: string, kept: Offer[], files: number): unknown[];
    place(): Place | undefined;
    placeOf(address: URL): Place | undefined;
    goTo(lesson: string, query: string): void;
    takeView(): unknown[];
    opened(text: string, pair: string, inUse: string): [typed: string, settled: string];
    typed(text: string, pair: string, inUse: string): string;
    settled(model: string): Promise<string>;
    begins(asked: string, inUse: string): void;
    asks(asked: string, inUse: string): void;
    say(sentence: string): void;
    useModel(model: string): void;
    picks(model: string, ...others: unknown[]): unknown[];
    begun(inUse: string): void;
    holdFiles(...values: unknown[]): void;
    openWithFile(lesson: string, choices: { [name: string]: string }, file: File): Promise<boolean>;
    write(): void;
    keep(name: string, value: unknown): void;
    began(part: string): void;
    resumes(part: string): void;
    trained(now: boolean): void;
    view(): Bar & { inUse: string; lesson: string; choices: { [name: string]: any } };
    questionsOn(): boolean;
    askFirst(on?: boolean): boolean;
  };
  /** Large type, light and dark (looks.js). */
  looks: {
    largeType(on?: boolean): boolean;
    dark(on?: boolean): boolean;
  };
  /** The maps of vectors (demos/lessons/embeddings/maps). */
  maps: {
    chosen: { [list: string]: () => number };
    choose: { [plot: string]: (point: number) => void };
    listening?(event: PageEvent): void;
  };
  /** A program as a Jupyter notebook (notebook.js). */
  notebook(title: string, code: string): Promise<object>;
  /** A tour of the reader's own (tours/own_tour.js). */
  ownTour: {
    readonly NAME: string;
    read(): OwnTour;
    keep(own: OwnTour): boolean;
    open(): Promise<void>;
    close(): void;
  };
  /** What several scripts make (elements.js). */
  page: {
    readonly SVG: "http://www.w3.org/2000/svg";
    made<K extends keyof HTMLElementTagNameMap>(tag: K, properties?: object, ...children: (Node | string)[]): HTMLElementTagNameMap[K];
    drawn<K extends keyof SVGElementTagNameMap>(
      parent: Element | null,
      name: K,
      attributes?: { [name: string]: string | number },
      text?: string,
    ): SVGElementTagNameMap[K];
    address(file: Blob): Promise<string>;
    save(file: Blob & { name?: string }, name?: string): void;
    bring(address: string, id: string): Promise<boolean>;
  };
  /** What is picked in a component, by its id. */
  picked: { [id: string]: () => unknown };
  /** A part of the page as an SVG (redraw.js), and as a file (demos/widgets/takeaway). */
  pictures: {
    redraw(root: Element): { text: string; width: number; height: number } | null;
    save: {
      picture(selector: string, kind: string, name: string): Promise<string>;
      pressed(press: [button: string, selector: string, kind: string, name: string, names: string[]], values: unknown[]): Promise<unknown[]>;
      arrived(button: string, file: string): string;
    };
  };
  /** Plotly's figures (plots.js, figure_table.js, full_screen/script.js). */
  plots: {
    areNear(): Promise<void>;
    filled(figure: Figure, layout: Layout): Layout;
    twin(figure: Figure, name: string, sentence: string): void;
  };
  /** Presenter mode (tours/presenter.js). */
  presenting: {
    present(on?: boolean): void;
    blank(on?: boolean): void;
    tell(): void;
    takesLetters(event: PageEvent): boolean;
  };
  /** A lesson's question cards (questions/script.js). */
  questions: {
    asked(): string;
    answered(answer: string): void;
    asText(): { question: string; answers: string[]; names: string[] } | undefined;
    right(): Promise<string[]>;
    open(): void;
  };
  /** The versions that requirements.txt allows of each package (head.py). */
  requirements: { [name: string]: string };
  /** The stops of the color scales on both papers (demos/figures/palette.py). */
  scales: { [paper in "light" | "dark"]: { [name: string]: string[] } };
  /** Which handler redraws (ticks.js). */
  ticks: {
    readonly ENOUGH: string;
    tick(name: string, ...now: unknown[]): string;
    last(name: string): string;
    cameWith(inputs: { [handler: string]: unknown[] }): void;
    know(choice: string, value: unknown): void;
    opensAt(part: string, first: string): void;
    turnTo(part: string): void;
    openPart(part: string): [part: string, tick: string];
    settledPart(parts: string[], moved: boolean, names: string[], ...values: unknown[]): string[];
    moved(handler: number): void;
    heard(of: { batch: number; handlers: Handler[]; values: number[] }, values: any[]): void;
    asked(batch: number): string;
  };
  /** The guided tour of the link (tours/tour.js). */
  tour: {
    address(kind: string, of: string, number: number, stop: { lesson: string; query?: string }): string;
    readonly asks: boolean;
    go(step: number): void;
    now(): false | undefined | { title: string; at: number; count: number; stop: Stop; next: string };
  };
  /** “Your questions”: a set of questions as a tour, and the panel (your_questions). */
  yourQuestions: {
    review: {
      readonly unknown: string[];
      readonly names: string[];
      title(name: string): string;
      tour(): Tour;
      address(name: string): string;
      button(): HTMLButtonElement;
    };
    open?(): void;
  };
}

declare var insideBert: InsideBert;

// ---- What these pass to each other

type Bar = { text: string; pair: string; model: string };
type Place = { lesson: string; query: string };
type Remembered = Partial<Bar> & {
  reader?: string;
  trained?: boolean;
  large?: boolean;
  dark?: boolean;
  questions?: boolean;
  keys?: boolean;
  shown?: boolean;
};
/** A question in its box; `right` is null where it was not answered, undefined where its part was only seen. */
type Card = { of: string; box: number; on: string; right?: boolean | null; said?: string };
type FinderEntry = {
  kind: string;
  title: string;
  also?: string;
  about?: string;
  where?: string;
  words?: string;
  lesson?: string;
  part?: string;
  term?: string;
  tour?: string;
  stop?: number;
  query?: string;
  press?: string;
};
/** [x, y], and what else is known there. */
type Point = number[];
/** [red, green, blue]. */
type Colour = number[];
type Heads = { side: number; num_layers: number; num_heads: number };
type Head = { layer: number; head: number };
type HeadGrid = {
  /** The head that is picked, or the heads that are off. */
  chosen(): (Partial<Head> & { off?: number[][] }) | null;
  strike(layer: number): ReturnType<HeadGrid["chosen"]>;
  fill(values: number[], at: number): number[];
  aim(values: (number | string)[], at: number, which: number): (number | string)[];
  best(key: string): Head | null;
  show(look: object): void;
};
/** The rules of a choice in a link, as demos/page/links.py writes them. */
type Offer = {
  name: string;
  value: any;
  former?: { [said: string]: string };
  zero?: string;
  minimum?: number;
  maximum?: number;
  step?: number;
  first?: number;
  offers?: unknown[];
  holds?: string[];
  follows?: [other: string, brought: { [said: string]: unknown }][];
};
/** A handler of a batch (demos/page/batch.py): the components are numbers. */
type Handler = [number: number, watched: number[], inputs: number[], fold: string, read: number[], ownText: number | null];
type Stop = {
  title: string;
  lesson: string;
  query: string;
  light: string;
  asks: boolean;
  text: string;
  notes: string;
  source?: [text: string, notes: string];
};
type Tour = { title: string; stops: Stop[] };
type OwnStop = { title: string; view: string; light: string; asks: boolean; text: string; notes: string };
type OwnTour = { title: string; stops: OwnStop[]; tour?: Tour };

// ---- What Python, Gradio and Plotly put into the page

declare var tours: { [name: string]: { title: string; count: number; asks: number[]; lesson: string; query: string } };
declare var questions: { names: { [name: string]: { lesson: string; tab: string; about: boolean } }; sentences: string[] };
type GradioComponent = { id: number; type: string; props: { [name: string]: any } };
declare var gradio_config: {
  components: GradioComponent[];
  dependencies: { targets: unknown[] }[];
  current_page?: string;
  api_prefix?: string;
};
type Layout = { [name: string]: any; height?: number };
type Trace = { [name: string]: any };
interface Figure extends Found {
  data: Trace[];
  layout: Layout;
  _fullData: Trace[];
  _fullLayout: Layout;
  _hoverdata?: Trace[];
  on(event: string, heard: (at: { points?: Trace[] }) => void): void;
  removeListener(event: string, heard: (at: { points?: Trace[] }) => void): void;
  /** A map's own listener (demos/lessons/embeddings/maps). */
  tellsMap?(at: { points?: Trace[] }): void;
}
declare var Plotly: {
  newPlot(figure: Element, data: Trace[], layout: Layout, config?: object): Promise<Figure>;
  react(figure: Element, data: Trace[], layout: Layout, config?: object): Promise<Figure>;
  relayout(figure: Element, changes: Layout): Promise<Figure>;
  purge(figure: Element): void;
  use3d?(): void;
  Plots: { resize(figure: Element): Promise<Figure> };
};

// A script that is a component's `js_on_load` is the body of a function with these parameters of Gradio's.
declare const element: Found;
declare const props: { [name: string]: any };
declare function trigger(event: string, data?: unknown): void;
declare function watch(property: string | string[], changed: () => void): void;
type Server = { [name: string]: (question: unknown) => Promise<any> };
declare const server: Server;

// ---- The room (demos/page/room), which has a name of its own

type RoomNow = {
  code: string;
  member?: string;
  key?: string;
  following?: boolean;
  applied?: string;
  answered?: { number: number; round: number; place: number };
  ends?: number;
  link?: string;
  qr?: string;
  alone?: boolean;
};
/** The last of each event of a room's stream (demos/page/room/stream.py). */
type RoomState = {
  here?: number;
  sentences?: number;
  collected?: number;
  vote?: { number: number; round: number; question: string; answers: string[]; revealed: boolean; right: number[]; tallies?: number[][] };
  tally?: { number: number; tallies: number[][]; right: number[]; moves: number[][] };
  view?: Place;
  stop?: { title: string; html: string };
  run?: string;
  data?: { classes: string[] };
};
declare var insideBertRoom: {
  readonly now: RoomNow | null;
  set(changes: Partial<RoomNow> | null): void;
  readonly pass: string;
  led(): RoomNow | null;
  forget(): void;
  script(name: string): Promise<{ begin(): Promise<void>; open?(): Promise<void> }>;
  run?: string;
  curve?(sizes: number[]): Promise<string>;
};

// ---- The browser's own names

/** What a selector finds or an event is at: an element of the page, which may be a control, a link, a fold or a template. */
interface Found
  extends HTMLElement,
    Partial<Pick<HTMLInputElement, "accept" | "checked" | "disabled" | "files" | "max" | "min" | "name" | "readOnly" | "select" | "step" | "type" | "validity" | "value">>,
    Partial<Pick<HTMLAnchorElement, "href" | "pathname" | "search">>,
    Partial<Pick<HTMLImageElement, "src">>,
    Partial<Pick<HTMLDialogElement, "close" | "open" | "showModal">>,
    Partial<Pick<HTMLFormElement, "elements" | "reset">> {
  content?: Fragment;
  /** CodeMirror's handle on its lines, by its name of now and before. */
  cmTile?: { view: any };
  cmView?: { view: any };
  readonly children: HTMLCollectionOf<Found>;
  readonly parentElement: Found | null;
  cloneNode(deep?: boolean): Found;
  closest<E extends Element = Found>(selectors: string): E | null;
}
interface Fragment extends DocumentFragment {
  readonly children: HTMLCollectionOf<Found>;
  readonly firstElementChild: Found | null;
  cloneNode(deep?: boolean): Fragment;
  getElementById(id: string): Found | null;
}
interface ParentNode {
  querySelector<K extends keyof HTMLElementTagNameMap>(selectors: K): (Found & HTMLElementTagNameMap[K]) | null;
  querySelector<E extends Element = Found>(selectors: string): E | null;
  querySelectorAll<K extends keyof HTMLElementTagNameMap>(selectors: K): NodeListOf<Found & HTMLElementTagNameMap[K]>;
  querySelectorAll<E extends Element = Found>(selectors: string): NodeListOf<E>;
}
interface Document {
  getElementById(id: string): Found | null;
}
/** An event in the page: it is at an element. */
type At<E> = E & { readonly target: Found; readonly currentTarget: Found } & (E extends FocusEvent ? { readonly relatedTarget: Found | null } : {});
type PageEvent = At<Event & Partial<KeyboardEvent>>;
interface HTMLElement {
  addEventListener<K extends keyof HTMLElementEventMap>(type: K, heard: (event: At<HTMLElementEventMap[K]>) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, heard: (event: PageEvent) => unknown, options?: boolean | AddEventListenerOptions): void;
}
interface Document {
  addEventListener<K extends keyof DocumentEventMap>(type: K, heard: (event: At<DocumentEventMap[K]>) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, heard: (event: PageEvent) => unknown, options?: boolean | AddEventListenerOptions): void;
}
interface Window {
  addEventListener<K extends keyof WindowEventMap>(type: K, heard: (event: At<WindowEventMap[K]>) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, heard: (event: PageEvent) => unknown, options?: boolean | AddEventListenerOptions): void;
}
declare function addEventListener(type: string, heard: (event: PageEvent) => unknown, options?: boolean | AddEventListenerOptions): void;
interface DocumentEventMap {
  "inside-bert-run": CustomEvent<string>;
}
interface Element {
  setAttribute(name: string, value: string | number | boolean): void;
}
interface CSSStyleDeclaration {
  setProperty(name: string, value: string | number): void;
}
interface HTMLElementTagNameMap {
  "number-cells": HTMLElement & { readonly numbers: Float32Array; paint(): void };
}
interface Window {
  navigation?: {
    addEventListener(type: "navigate", heard: (event: { destination: { url: string }; downloadRequest: string | null }) => unknown): void;
  };
}
