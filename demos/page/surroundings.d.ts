// What Python, Gradio, Plotly and the browser put around the page's scripts, as the scripts find it.

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
// Of a number or a boolean, the browser makes a text.
interface Element {
  setAttribute(name: string, value: string | number | boolean): void;
}
interface CSSStyleDeclaration {
  setProperty(name: string, value: string | number): void;
}
/** demos/figures/cell_strip.js makes them. */
interface HTMLElementTagNameMap {
  "number-cells": HTMLElement & { readonly numbers: Float32Array; paint(): void };
}
interface Window {
  navigation?: {
    addEventListener(type: "navigate", heard: (event: { destination: { url: string }; downloadRequest: string | null }) => unknown): void;
  };
}
