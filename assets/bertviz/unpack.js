// Unpacks the page's message: one byte per weight and two per number of a query or key become what bertviz calls
// `attention`. It is kept layer by layer, so that nothing is sent twice.
const unpacked = (() => {
  const SHARES = Array.from({ length: 256 }, (_, byte) => byte / 255);
  const held = { key: "", weights: new Map(), vectors: new Map() }; // layer -> what was sent of it

  function bytes(base64) {
    const text = atob(base64);
    const list = new Uint8Array(text.length);
    for (let index = 0; index < list.length; index++) list[index] = text.charCodeAt(index);
    return list;
  }

  function keep(message) {
    if (held.key !== message.key) {
      held.key = message.key;
      held.weights.clear();
      held.vectors.clear();
    }
    for (const [layer, packed] of Object.entries(message.weights)) {
      if (!held.weights.has(+layer)) held.weights.set(+layer, bytes(packed));
    }
    for (const [layer, pair] of Object.entries(message.vectors)) {
      if (held.vectors.has(+layer)) continue;
      const kinds = Object.entries(pair).map(([kind, packed]) => {
        return [kind, { width: packed.width, scale: packed.scale, whole: new Int16Array(bytes(packed.data).buffer) }];
      });
      held.vectors.set(+layer, Object.fromEntries(kinds));
    }
  }

  function missing({ view, layer, num_layers: layers }) {
    if (view === "model") return held.weights.size < layers;
    return !held.weights.has(layer) || (view === "neuron" && !held.vectors.has(layer));
  }

  // A list whose entries are made when bertviz reads them: most layers and heads are never shown.
  function lazily(length, make) {
    const list = new Array(length);
    for (let index = 0; index < length; index++) {
      Object.defineProperty(list, index, {
        enumerable: true,
        configurable: true,
        get() {
          const value = make(index);
          if (value.sizesOnly) return value;
          Object.defineProperty(list, index, { value, enumerable: true });
          return value;
        },
      });
    }
    return list;
  }

  // bertviz reads layer 0 for its sizes: a layer that isn't here yet answers with these, and holds no numbers.
  const sizesOnly = (list) => Object.assign(list, { sizesOnly: true });

  // The keys: the same tokens, or in cross-attention the `columns` of another text
  const read = (message) => message.columns ?? message;

  // [rows of queries][columns of keys] of one layer, head by head
  function weights(message, layer, [top, bottom], [left, right]) {
    const { num_heads: heads, tokens: { length: n } } = message;
    const wide = read(message).tokens.length;
    const packed = held.weights.get(layer);
    if (!packed) return sizesOnly(new Array(heads));
    return lazily(heads, (head) => {
      const matrix = [];
      for (let row = top; row < bottom; row++) {
        const start = (head * n + row) * wide;
        const shares = new Array(right - left);
        for (let column = left; column < right; column++) shares[column - left] = SHARES[packed[start + column]];
        matrix.push(shares);
      }
      return matrix;
    });
  }

  // [tokens][width] of one layer, head by head; `kind` is "queries" or "keys"
  function vectors({ num_heads: heads, tokens: { length: n } }, layer, kind, [from, to]) {
    const packed = held.vectors.get(layer)?.[kind];
    if (!packed) return sizesOnly([[{ length: held.vectors.values().next().value[kind].width }]]);
    const { width, scale, whole } = packed;
    return lazily(heads, (head) => {
      const rows = [];
      for (let row = from; row < to; row++) {
        const start = (head * n + row) * width;
        rows.push(Array.from(whole.subarray(start, start + width), (number) => number * scale[head]));
      }
      return rows;
    });
  }

  // bertviz's `attention`: the whole matrix, and for a pair its four quarters, all cut from the matrix here.
  function attention(message) {
    const { tokens, num_layers: layers, sentence_b_start: b } = message;
    const texts = read(message).tokens;
    const all = [0, tokens.length];
    const a = [0, b];
    const rest = [b, tokens.length];
    const cuts = b === null ? [[all, [0, texts.length]]] : [[all, all], [a, a], [rest, rest], [a, rest], [rest, a]];
    return cuts.map(([rows, columns]) => ({
      left_text: Object.assign(tokens.slice(...rows), { first: rows[0] }),
      right_text: Object.assign(texts.slice(...columns), { first: columns[0] }),
      attn: lazily(layers, (layer) => weights(message, layer, rows, columns)),
      queries: lazily(layers, (layer) => vectors(message, layer, "queries", rows)),
      keys: lazily(layers, (layer) => vectors(message, layer, "keys", columns)),
    }));
  }

  return { keep, missing, attention, read };
})();
