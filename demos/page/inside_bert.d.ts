// The names that the page's scripts share, each with its type. tests/test_types.py checks the scripts by them, and
// tests/test_names.py counts them.

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
    asText(): { part: string; question: string; answers: string[]; names: string[] } | undefined;
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
    selected(): { __type__: "update"; selected: string };
    openPart(part: string): [part: string, tick: string];
    settledPart(parts: string[], moved: boolean, names: string[], ...values: unknown[]): string[];
    moved(handlers: number[]): void;
    heard(of: { batch: string; handlers: Handler[]; values: number[] }, values: any[]): void;
    asked(batch: string): string;
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
